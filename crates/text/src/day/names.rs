//! Names of months and days of the week, and words of relative dates, folded: most in English,
//! German, French and Spanish; months in Italian, Portuguese, Dutch and Russian too.

/// What the name of a month can stand with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MonthName {
    /// With a day before or behind it, also without a year: `3 May`, `May 3`.
    Free,
    /// Without a year only with the day before it: `2 maggio`, `2 мая`.
    DayFirst,
    /// A short form: only beside a year.
    Short,
}

/// The month (1 to 12) of a folded name, and what the name can stand with.
pub(super) fn month(word: &str) -> Option<(u8, MonthName)> {
    const FREE: [&[&str]; 12] = [
        &["january", "januar", "janner", "jaenner", "janvier", "enero"],
        &["february", "februar", "fevrier", "febrero"],
        &["march", "marz", "maerz", "mars", "marzo"],
        &["april", "avril", "abril"],
        &["may", "mai", "mayo"],
        &["june", "juni", "juin", "junio"],
        &["july", "juli", "juillet", "julio"],
        &["august", "aout", "agosto"],
        &["september", "septembre", "septiembre", "setiembre"],
        &["october", "oktober", "octobre", "octubre"],
        &["november", "novembre", "noviembre"],
        &["december", "dezember", "decembre", "diciembre"],
    ];
    // Russian: of the month, in the month, the month itself.
    const DAY_FIRST: [&[&str]; 12] = [
        &[
            "gennaio",
            "janeiro",
            "januari",
            "января",
            "январе",
            "январь",
        ],
        &[
            "febbraio",
            "fevereiro",
            "februari",
            "февраля",
            "феврале",
            "февраль",
        ],
        &["marco", "maart", "марта", "марте", "март"],
        &["aprile", "апреля", "апреле", "апрель"],
        &["maggio", "maio", "mei", "мая", "мае", "маи"],
        &["giugno", "junho", "июня", "июне", "июнь"],
        &["luglio", "julho", "июля", "июле", "июль"],
        &["augustus", "августа", "августе", "август"],
        &["settembre", "setembro", "сентября", "сентябре", "сентябрь"],
        &["ottobre", "outubro", "октября", "октябре", "октябрь"],
        &["novembro", "ноября", "ноябре", "ноябрь"],
        &["dicembre", "dezembro", "декабря", "декабре", "декабрь"],
    ];
    const SHORT: [&[&str]; 12] = [
        &["jan", "janv", "ene"],
        &["feb", "febr", "fev", "fevr"],
        &["mar", "mrz"],
        &["apr", "avr", "abr"],
        &[],
        &["jun"],
        &["jul", "juil"],
        &["aug", "ago"],
        &["sep", "sept"],
        &["oct", "okt"],
        &["nov"],
        &["dec", "dez", "dic"],
    ];
    let tables = [
        (&FREE, MonthName::Free),
        (&DAY_FIRST, MonthName::DayFirst),
        (&SHORT, MonthName::Short),
    ];
    tables.into_iter().find_map(|(table, name)| {
        let at = table.iter().position(|names| names.contains(&word))?;
        Some((u8::try_from(at + 1).ok()?, name))
    })
}

/// The day of the week, 0 for Monday, of a folded name.
pub(super) fn weekday(word: &str) -> Option<u8> {
    const NAMES: [&[&str]; 7] = [
        &["monday", "montag", "lundi", "lunes"],
        &["tuesday", "dienstag", "mardi", "martes"],
        &["wednesday", "mittwoch", "mercredi", "miercoles"],
        &["thursday", "donnerstag", "jeudi", "jueves"],
        &["friday", "freitag", "vendredi", "viernes"],
        &["saturday", "samstag", "sonnabend", "samedi", "sabado"],
        &["sunday", "sonntag", "dimanche", "domingo"],
    ];
    let at = NAMES.iter().position(|names| names.contains(&word))?;
    u8::try_from(at).ok()
}

/// Short names of days of the week, which are other words too: they count only beside a date.
pub(super) fn is_short_weekday(word: &str) -> bool {
    matches!(
        word,
        "mon"
            | "tue"
            | "tues"
            | "wed"
            | "thu"
            | "thur"
            | "thurs"
            | "fri"
            | "sat"
            | "sun"
            | "mo"
            | "di"
            | "mi"
            | "do"
            | "fr"
            | "sa"
            | "so"
            | "lun"
            | "mar"
            | "mer"
            | "jeu"
            | "ven"
            | "sam"
            | "dim"
            | "mie"
            | "jue"
            | "vie"
            | "sab"
            | "dom"
    )
}

/// Small numbers in words, as they stand before "days ago" (`a week ago`, `vor zwei Tagen`).
pub(super) fn count(word: &str) -> Option<i64> {
    const NAMES: [&[&str]; 12] = [
        &[
            "one", "a", "an", "ein", "eine", "einem", "einer", "un", "une", "una",
        ],
        &["two", "zwei", "deux", "dos"],
        &["three", "drei", "trois", "tres"],
        &["four", "vier", "quatre", "cuatro"],
        &["five", "funf", "fuenf", "cinq", "cinco"],
        &["six", "sechs", "seis"],
        &["seven", "sieben", "sept", "siete"],
        &["eight", "acht", "huit", "ocho"],
        &["nine", "neun", "neuf", "nueve"],
        &["ten", "zehn", "dix", "diez"],
        &["eleven", "elf", "onze", "once"],
        &["twelve", "zwolf", "zwoelf", "douze", "doce"],
    ];
    let at = NAMES.iter().position(|names| names.contains(&word))?;
    i64::try_from(at + 1).ok()
}

/// What is counted in "three days ago".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// The unit of a folded word, in all its forms.
pub(super) fn unit(word: &str) -> Option<Unit> {
    match word {
        "day" | "days" | "tag" | "tage" | "tagen" | "jour" | "jours" | "dia" | "dias" => {
            Some(Unit::Day)
        }
        "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" | "semana" | "semanas" => {
            Some(Unit::Week)
        }
        "month" | "months" | "monat" | "monate" | "monaten" | "monats" | "mois" | "mes"
        | "meses" => Some(Unit::Month),
        "year" | "years" | "jahr" | "jahre" | "jahren" | "jahres" | "an" | "ans" | "annee"
        | "annees" | "ano" | "anos" => Some(Unit::Year),
        _ => None,
    }
}

/// Which one of a row of days, weeks or months is meant, seen from now: the one before (-1),
/// the current (0) or the next (1).
pub(super) fn which(word: &str) -> Option<i64> {
    match word {
        "last" | "previous" | "past" | "letzte" | "letzten" | "letzter" | "letztes" | "letztem"
        | "vergangene" | "vergangenen" | "vergangenes" | "vergangener" | "vorige" | "vorigen"
        | "voriges" | "dernier" | "derniere" | "passe" | "passee" | "pasado" | "pasada" => Some(-1),
        "this" | "current" | "diese" | "diesen" | "dieser" | "dieses" | "diesem" | "ce" | "cet"
        | "cette" | "este" | "esta" => Some(0),
        "next" | "coming" | "nachste" | "nachsten" | "nachster" | "nachstes" | "naechste"
        | "naechsten" | "naechster" | "naechstes" | "kommende" | "kommenden" | "prochain"
        | "prochaine" | "proximo" | "proxima" => Some(1),
        _ => None,
    }
}
