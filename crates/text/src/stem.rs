//! Light English stemming: plurals, `-ed`, `-ing`, a silent final `e`.

/// Cuts a folded ASCII word to its stem, in place; other words are left alone.
///
/// The rules are those of the first steps of Porter (1980), "An algorithm for suffix
/// stripping", with one change: instead of restoring a silent `e` after a removed suffix, the
/// final `e` is cut everywhere (`make`, `making`, `makes` → `mak`). Derivational endings
/// (`-ation`, `-ness`) stay: meaning is the dense lane's business.
pub fn stem(word: &mut String) {
    if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    plural(word);
    past_or_participle(word);
    final_letter(word);
}

fn plural(word: &mut String) {
    if !word.ends_with('s') || word.len() < 4 {
        return;
    }
    if word.ends_with("sses")
        || word.ends_with("xes")
        || word.ends_with("shes")
        || word.ends_with("ches")
    {
        word.truncate(word.len() - 2);
    } else if word.ends_with("ies") {
        let keep = if word.len() > 4 { 3 } else { 1 };
        word.truncate(word.len() - keep);
        if keep == 3 {
            word.push('y');
        }
    } else if !(word.ends_with("ss") || word.ends_with("us") || word.ends_with("is")) {
        word.pop();
    }
}

fn past_or_participle(word: &mut String) {
    let cut = if word.ends_with("ied") && word.len() > 4 {
        word.truncate(word.len() - 3);
        word.push('y');
        return;
    } else if word.ends_with("eed") {
        return;
    } else if word.ends_with("ing") {
        3
    } else if word.ends_with("ed") {
        2
    } else {
        return;
    };
    let base = &word[..word.len() - cut];
    if base.len() < 3 && !(base.len() == 2 && cut == 3 && has_vowel(base)) || !has_vowel(base) {
        return;
    }
    word.truncate(word.len() - cut);
    undouble(word);
}

/// `running` → `run`; `falling`, `missing` and `buzzing` keep their double letter.
fn undouble(word: &mut String) {
    let bytes = word.as_bytes();
    if let [.., a, b] = bytes
        && a == b
        && !matches!(b, b'l' | b's' | b'z' | b'a' | b'e' | b'i' | b'o' | b'u')
    {
        word.pop();
    }
}

fn final_letter(word: &mut String) {
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    } else if word.len() > 2 && word.ends_with('y') {
        let before = word.as_bytes()[word.len() - 2];
        if !is_vowel(before) {
            word.pop();
            word.push('i');
        }
    }
}

fn has_vowel(word: &str) -> bool {
    word.bytes().any(|b| is_vowel(b) || b == b'y')
}

fn is_vowel(b: u8) -> bool {
    matches!(b, b'a' | b'e' | b'i' | b'o' | b'u')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stemmed(word: &str) -> String {
        let mut s = word.to_string();
        stem(&mut s);
        s
    }

    #[test]
    fn forms_of_one_word_meet() {
        for group in [
            &["make", "makes", "making"][..],
            &["firing", "firings", "fire", "fires", "fired"],
            &["run", "runs", "running"],
            &["reply", "replies", "replied", "replying"],
            &["box", "boxes"],
            &["class", "classes"],
            &["glaze", "glazes", "glazed", "glazing"],
            &["note", "notes", "noted", "noting"],
            &["plan", "plans", "planned", "planning"],
            &["kiln", "kilns"],
            &["go", "going"],
        ] {
            let first = stemmed(group[0]);
            for word in group {
                assert_eq!(stemmed(word), first, "{word}");
            }
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (a, b) in [
            ("bus", "bu"),
            ("this", "thi"),
            ("sing", "s"),
            ("red", "r"),
            ("feed", "fee"),
            ("being", "bee"),
        ] {
            assert_ne!(stemmed(a), stemmed(b), "{a} {b}");
        }
        assert_eq!(stemmed("naïve"), "naïve");
    }
}
