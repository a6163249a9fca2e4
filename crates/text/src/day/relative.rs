//! Days named from where the speaker stands: `yesterday`, `last Monday`, `vor drei Tagen`, `昨天`.

use super::names::{Unit, count, unit, weekday, which};
use super::scan::Scan;
use super::{Day, Period};

/// Reads the words that begin at a piece: the piece behind them, and what they mean.
pub(super) fn read(scan: &Scan<'_>, at: usize, today: Day) -> Option<(usize, Period)> {
    let is_word = scan.word(at).is_some() || scan.number(at).is_some();
    (is_word && scan.begins(at)).then_some(())?;
    neighbour(scan, at, today)
        .or_else(|| ago(scan, at, today))
        .or_else(|| one_of_a_row(scan, at, today))
        .filter(|(end, _)| scan.word(*end).is_none())
        .or_else(|| in_signs(scan, at, today))
}

/// `today`, `yesterday`, `the day before yesterday` and their like.
fn neighbour(scan: &Scan<'_>, at: usize, today: Day) -> Option<(usize, Period)> {
    const PHRASES: [(&[&str], i64); 34] = [
        (&["day", "before", "yesterday"], -2),
        (&["day", "after", "tomorrow"], 2),
        (&["yesterday"], -1),
        (&["today"], 0),
        (&["tomorrow"], 1),
        (&["vorgestern"], -2),
        (&["gestern"], -1),
        (&["heute"], 0),
        (&["ubermorgen"], 2),
        (&["avant", "hier"], -2),
        (&["hier"], -1),
        (&["aujourd", "hui"], 0),
        (&["apres", "demain"], 2),
        (&["demain"], 1),
        (&["anteayer"], -2),
        (&["ayer"], -1),
        (&["hoy"], 0),
        (&["pasado", "manana"], 2),
        (&["manana"], 1),
        (&["altro", "ieri"], -2),
        (&["ieri"], -1),
        (&["oggi"], 0),
        (&["dopodomani"], 2),
        (&["domani"], 1),
        (&["anteontem"], -2),
        (&["ontem"], -1),
        (&["hoje"], 0),
        (&["eergisteren"], -2),
        (&["gisteren"], -1),
        (&["vandaag"], 0),
        (&["позавчера"], -2),
        (&["вчера"], -1),
        (&["сегодня"], 0),
        (&["завтра"], 1),
    ];
    let (phrase, end, days) = PHRASES.iter().find_map(|(phrase, days)| {
        let mut words = scan.words_from(at);
        let mut end = at;
        for wanted in *phrase {
            end = words.next().filter(|(word, _)| word == wanted)?.1;
        }
        Some((*phrase, end, *days))
    })?;
    let before = scan.word_before(at);
    let is_something_else = match phrase {
        // "Here" to German readers.
        ["hier"] => !is_french(scan),
        // "The morning", "this morning".
        ["manana"] => matches!(before, Some("la" | "esta" | "por" | "una" | "cada")),
        _ => false,
    };
    let day = today.plus(days)?;
    (!is_something_else).then_some((end, day.into()))
}

/// Words of Chinese and Japanese, which stand in their sentence without blanks, and with what is
/// around them may be parts of other words: `目前|天气`, `上|周围`.
fn in_signs(scan: &Scan<'_>, at: usize, today: Day) -> Option<(usize, Period)> {
    /// The words, what they count, how many, what they cannot follow, and what cannot follow them.
    type Row = (
        &'static [&'static str],
        Unit,
        i64,
        &'static str,
        &'static str,
    );
    const ROWS: [Row; 9] = [
        (&["一昨日"], Unit::Day, -2, "", ""),
        (&["前天"], Unit::Day, -2, "大以之目此先从從", "气氣"),
        (&["昨天", "昨日"], Unit::Day, -1, "", ""),
        (&["今天", "今日"], Unit::Day, 0, "如当當现現", "子"),
        (&["明天", "明日"], Unit::Day, 1, "文光透", "香"),
        (
            &["上周", "上週"],
            Unit::Week,
            -1,
            "早晚",
            "末围圍期年边邊到转轉全密游遊一二三四五六日天",
        ),
        (&["先週"], Unit::Week, -1, "", "末"),
        (&["上个月", "上個月"], Unit::Month, -1, "上", ""),
        (&["先月"], Unit::Month, -1, "", ""),
    ];
    let (word, row) = ROWS.iter().find_map(|row| {
        let mut words = row.0.iter();
        let word = words.find(|word| {
            let mut signs = word.chars().zip(at..);
            signs.all(|(sign, at)| scan.written(at).starts_with(sign))
        })?;
        Some((word, row))
    })?;
    let end = at + word.chars().count();
    let (_, unit, steps, not_behind, not_before) = row;
    let one_of = |signs: &str, at: Option<usize>| {
        let sign = at.and_then(|at| scan.written(at).chars().next());
        sign.is_some_and(|sign| signs.contains(sign))
    };
    let is_something_else = one_of(not_behind, at.checked_sub(1)) || one_of(not_before, Some(end));
    (!is_something_else).then_some((end, shifted(*unit, *steps, today)?))
}

/// Whether a text has words that are French and not German.
fn is_french(scan: &Scan<'_>) -> bool {
    const WORDS: [&str; 22] = [
        "le", "la", "les", "l", "d", "des", "du", "de", "que", "qu", "quoi", "est", "ai", "j",
        "je", "et", "ce", "c", "soir", "matin", "avec", "nous",
    ];
    scan.words().any(|word| WORDS.contains(&word))
}

/// `three days ago`, `vor 3 Tagen`, `il y a trois jours`, `hace una semana`. Weeks, months and
/// years ago are that week, month or year.
fn ago(scan: &Scan<'_>, at: usize, today: Day) -> Option<(usize, Period)> {
    let (amount_at, is_said) = match scan.word(at) {
        Some("vor" | "hace") => (scan.skip_blank(at + 1), true),
        Some("il") => {
            let mut words = scan.words_from(at + 1);
            let y = words.next().filter(|(word, _)| *word == "y");
            let a = words.next().filter(|(word, _)| *word == "a");
            y?;
            (scan.skip_blank(a?.1), true)
        }
        _ => (at, false),
    };
    let amount = match scan.number(amount_at) {
        Some((number, digits)) if digits <= 3 => i64::try_from(number).ok()?,
        _ => count(scan.word(amount_at)?)?,
    };
    let unit_at = scan.skip_blank(amount_at + 1);
    let unit = unit(scan.word(unit_at)?)?;
    let end = if is_said {
        unit_at + 1
    } else {
        let ago_at = scan.skip_blank(unit_at + 1);
        (scan.word(ago_at) == Some("ago")).then_some(ago_at + 1)?
    };
    let period = match unit {
        Unit::Day => today.plus(-amount)?.into(),
        unit => shifted(unit, -amount, today)?,
    };
    Some((end, period))
}

/// `last Monday`, `this week`, `nächsten Monat`, `lundi dernier`, `la semana pasada`.
fn one_of_a_row(scan: &Scan<'_>, at: usize, today: Day) -> Option<(usize, Period)> {
    let mut words = scan.words_from(at);
    let (one, _) = words.next()?;
    let (two, end) = words.next()?;
    let (step, row) = match (which(one), which(two)) {
        (Some(step), None) => (step, two),
        // "Monday this…" goes on; only "last" and "next" stand behind in French and Spanish.
        (None, Some(step)) if step != 0 => (step, one),
        _ => return None,
    };
    let period = match (weekday(row), unit(row)) {
        (Some(weekday), _) => named_weekday(weekday, step, today)?.into(),
        (None, Some(Unit::Day)) | (None, None) => return None,
        (None, Some(unit)) => shifted(unit, step, today)?,
    };
    Some((end, period))
}

/// The last one before today, the one of this week, or the next after today.
fn named_weekday(weekday: u8, step: i64, today: Day) -> Option<Day> {
    let ahead = (i64::from(weekday) - i64::from(today.weekday())).rem_euclid(7);
    match step {
        0 => today.plus(i64::from(weekday) - i64::from(today.weekday())),
        1 => today.plus(if ahead == 0 { 7 } else { ahead }),
        _ => today.plus(ahead - 7),
    }
}

/// The week, month or year so many steps from the one that today lies in.
fn shifted(unit: Unit, steps: i64, today: Day) -> Option<Period> {
    match unit {
        Unit::Day => Some(today.plus(steps)?.into()),
        Unit::Week => Period::week_of(today.plus(steps.checked_mul(7)?)?),
        Unit::Month => {
            let months = i64::from(today.year()) * 12 + i64::from(today.month()) - 1 + steps;
            let year = u16::try_from(months.div_euclid(12)).ok()?;
            Period::month(year, u8::try_from(months.rem_euclid(12) + 1).ok()?)
        }
        Unit::Year => Period::year(u16::try_from(i64::from(today.year()) + steps).ok()?),
    }
}
