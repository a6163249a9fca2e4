//! The normal form of text: what counts as the same when words are matched.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds a text for matching: compatibility forms (full width, ligatures), case and diacritics.
///
/// `Ｋｉｌｎ`, `kiln` and `KILN` fold to `kiln`; `Œuvre` to `oeuvre`; `straße` to `strasse`;
/// `résumé` to `resume`. Signs that carry meaning in their script stay: Japanese voiced marks,
/// Thai and Indic vowels. The result is in NFC. Length and offsets are not kept.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

/// Like [`fold`], into a buffer of the caller's, which is cleared first.
pub(crate) fn fold_into(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
        return;
    }
    let plain = text
        .nfkd()
        .filter(|c| !is_dropped_mark(*c))
        .flat_map(char::to_lowercase)
        .filter(|c| !is_dropped_mark(*c));
    let mut spread = String::with_capacity(text.len());
    for c in plain {
        match spelled_out(c) {
            Some(letters) => spread.push_str(letters),
            None => spread.push(c),
        }
    }
    out.extend(spread.nfc());
}

/// Whether [`fold`] leaves every character of a text as it is: common Chinese characters and
/// kana, of which long texts consist.
pub(crate) fn is_folded(text: &str) -> bool {
    text.chars().all(|c| {
        matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}')
    })
}

/// The lower-case NFC form that keeps diacritics: the spelling that a reader typed.
pub(crate) fn spelling_into(text: &str, out: &mut String) {
    out.clear();
    let lower: String = text
        .nfkc()
        .filter(|c| !is_invisible(*c))
        .flat_map(char::to_lowercase)
        .collect();
    out.extend(lower.nfc());
}

/// The key under which names of notes, links, tags and folders are compared: NFC, case folded,
/// white space collapsed and trimmed. Diacritics stay, because `Résumé` and `Resume` may be two
/// notes.
pub fn name_key(text: &str) -> String {
    if text.is_ascii() {
        let mut key = fold_white_space(text);
        key.make_ascii_lowercase();
        return key;
    }
    let folded: String = text.nfc().flat_map(char::to_lowercase).collect();
    let folded: String = folded.replace('ß', "ss").replace('ς', "σ").nfc().collect();
    fold_white_space(&folded)
}

/// Every run of Unicode white space (no-break space included) as one blank; none at the ends.
pub fn fold_white_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Diacritics and invisible signs, which matching does not see.
fn is_dropped_mark(c: char) -> bool {
    is_invisible(c) || is_diacritic(c)
}

/// Soft hyphen, joiners, bidirectional controls, variation selectors; and the Arabic tatweel, which
/// only stretches a word.
fn is_invisible(c: char) -> bool {
    matches!(c as u32,
        0xAD | 0x640 | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0xFE00..=0xFE0F | 0xFEFF)
}

/// Combining signs of Latin, Greek, Cyrillic, Hebrew and Arabic; those of other scripts stay.
fn is_diacritic(c: char) -> bool {
    matches!(c as u32, 0x0300..=0x06FF | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF)
        && is_combining_mark(c)
}

/// Letters without a decomposition that are commonly typed with plain ones.
fn spelled_out(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ı' => "i",
        'ħ' => "h",
        'ς' => "σ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_folds_together() {
        for (text, folded) in [
            ("Kiln", "kiln"),
            ("Ｋｉｌｎ２", "kiln2"),
            ("Œuvre Straße", "oeuvre strasse"),
            ("re\u{301}sume\u{301}", "resume"),
            ("Łódź", "lodz"),
            ("ﬁn", "fin"),
            ("が", "が"),
            ("か\u{3099}", "が"),
            ("ｶﾞ", "ガ"),
            ("น้ำ", "น\u{e49}\u{e4d}\u{e32}"),
            ("한국어", "한국어"),
            ("шлём", "шлем"),
            ("so\u{ad}ft", "soft"),
            ("مـــدرسة", "مدرسة"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn what_is_taken_as_folded_is() {
        let chars = ('\u{3000}'..='\u{9FFF}')
            .map(String::from)
            .filter(|c| is_folded(c));
        let changed: Vec<String> = chars.filter(|c| fold(c) != *c).collect();
        assert!(changed.is_empty(), "{changed:?}");
        assert!(is_folded("釉薬ガラス") && !is_folded("釉薬ｶﾞ") && !is_folded("a"));
    }

    #[test]
    fn names_keep_diacritics() {
        assert_eq!(name_key("Re\u{301}sume\u{301} \u{a0} X"), "résumé x");
        assert_eq!(name_key("STRASSE"), name_key("straße"));
        assert_eq!(name_key("ΣΑΣ"), name_key("σας"));
        assert_ne!(name_key("Résumé"), name_key("Resume"));
    }

    proptest::proptest! {
        #[test]
        fn folding_is_idempotent(text in "\\PC{0,40}") {
            let once = fold(&text);
            proptest::prop_assert_eq!(fold(&once), once.clone());
            let key = name_key(&text);
            proptest::prop_assert_eq!(name_key(&key), key.clone());
        }
    }
}
