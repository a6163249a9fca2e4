//! What is read as a date, and what is not.

use proptest::prelude::*;

use super::*;

/// A Wednesday.
const TODAY: &str = "2026-07-15";

/// `text | what it names`, parted by blanks; a period is `first..last`. Bytes are checked against
/// the brackets.
const DATES: &str = "
[2024-05-03] | 2024-05-03
[2024/5/3] and [2024_05_03], [2024.05.03] | 2024-05-03 2024-05-03 2024-05-03
[2024-05-03]T10:15:00Z | 2024-05-03
Meeting [20240503] b | 2024-05-03
[202405031015] Zettel | 2024-05-03
[20240503101500] Zettel | 2024-05-03
[2024-W18] | 2024-04-29..2024-05-05
[2024W18] [2024-W18-3] [2024-KW18] | 2024-04-29..2024-05-05 2024-05-01 2024-04-29..2024-05-05
[2020-W53] not 2021-W53 | 2020-12-28..2021-01-03
[2024-05] | 2024-05-01..2024-05-31
[2024-Q2] | 2024-04-01..2024-06-30
会议[2024年5月3日]记录 [2024年5月] | 2024-05-03 2024-05-01..2024-05-31
[3 May 2024], [3rd of May, 2024] | 2024-05-03 2024-05-03
[May 3rd, 2024] [May 3 2024] [may 3, 2024] | 2024-05-03 2024-05-03 2024-05-03
[3-May-2024] [2024-May-03] [3 Sept. 2024] | 2024-05-03 2024-05-03 2024-09-03
am [3. Mai 2024], [1. März 2024], [2. Jänner 2024] | 2024-05-03 2024-03-01 2024-01-02
le [1er août 2024] et le [14 juillet 2023] | 2024-08-01 2023-07-14
el [3 de mayo de 2024] | 2024-05-03
[Mai 2024], [mayo de 2024], [Dec 2023] | 2024-05-01..2024-05-31 2024-05-01..2024-05-31 2023-12-01..2023-12-31
[25/12/2024] [12/25/2024] [25.12.2024] [05/05/2024] | 2024-12-25 2024-12-25 2024-12-25 2024-05-05
on [May 3] and [December 24th], [3 May] | 2026-05-03 2025-12-24 2026-05-03
am [24. Dezember] | 2025-12-24
[29 February] | 2024-02-29
what did I do [yesterday]? | 2026-07-14
the [day before yesterday], [tomorrow] | 2026-07-13 2026-07-16
was war [gestern] und [vorgestern], [heute] | 2026-07-14 2026-07-13 2026-07-15
qu'est-ce que j'ai fait [hier], [avant-hier], [aujourd’hui] | 2026-07-14 2026-07-13 2026-07-15
[ayer] y [mañana], por la mañana | 2026-07-14 2026-07-16
[last Monday], [last Wednesday], [next Wednesday] | 2026-07-13 2026-07-08 2026-07-22
[this Friday], [letzten Montag], [lundi dernier], el [lunes pasado] | 2026-07-17 2026-07-13 2026-07-13 2026-07-13
[three days ago], [10 days ago], [vor 3 Tagen], [il y a deux jours], [hace un día] | 2026-07-12 2026-07-05 2026-07-12 2026-07-13 2026-07-14
[last week], [letzte Woche], la [semana pasada] | 2026-07-06..2026-07-12 2026-07-06..2026-07-12 2026-07-06..2026-07-12
[this month], le [mois dernier] | 2026-07-01..2026-07-31 2026-06-01..2026-06-30
[2 мая 2026], [2 Мая 2026] г., в [мае 2025], [май 2026] | 2026-05-02 2026-05-02 2025-05-01..2025-05-31 2026-05-01..2026-05-31
[2 maggio 2026], [1º gennaio 2025], [2 maggio] | 2026-05-02 2025-01-01 2026-05-02
[2 de maio de 2026], [3 de março de 2025], [março de 2025] | 2026-05-02 2025-03-03 2025-03-01..2025-03-31
[2 mei 2026], [3 maart 2025], [30 augustus] | 2026-05-02 2025-03-03 2025-08-30
[2 мая], [24 декабря] | 2026-05-02 2025-12-24
am [5. Mai], [16. Juli] | 2026-05-05 2025-07-16
会议[5月2日]记录 [12月31号] [5월 2일] | 2026-05-02 2025-12-31 2026-05-02
我[昨天]去了，[今天]也去，[前天]没去，[明天]天气好 | 2026-07-14 2026-07-15 2026-07-13 2026-07-16
[上周]的会议 [上个月]写的 | 2026-07-06..2026-07-12 2026-06-01..2026-06-30
[昨日]の会議 [今日]は [明日]も [一昨日] [先週]の | 2026-07-14 2026-07-15 2026-07-16 2026-07-13 2026-07-06..2026-07-12
[вчера] и [сегодня], [Позавчера] | 2026-07-14 2026-07-15 2026-07-13
[ieri] e [oggi], l'[altro ieri], [ontem], [hoje], [gisteren], [vandaag] | 2026-07-14 2026-07-15 2026-07-13 2026-07-14 2026-07-15 2026-07-14 2026-07-15
[two weeks ago], [a month ago] | 2026-06-29..2026-07-05 2026-06-01..2026-06-30
";

/// Nothing in these is a date.
const NO_DATES: &str = "
03/05/2024
03.05.2024 and 3-5-2024
2024
2024-13-03 2024-02-30 20241399
x2020-01-01 12345-01-012
version 2024.1.3, v2.2024-05-03
31 April, 0 May
Hier steht, was wir tun. Monday, Wednesday.
we may 3 times march 4 miles
Mars 2020
192.168.2024.05
chapter 3 of 12
morgen, am Morgen, ieder mei, Marco 3 and 3 Marco
去年5月2日 99年5月2日 13月2日 5月32日 5月
Rio de Janeiro 2016, Augustus 14, в марте 3 встречи
目前天气 以前天气 如今天气 文明天下 上周围 上周五 上周末 上上个月
00000000000000 99999999999999999999999
";

/// The brackets of a line taken out: the text, and the bytes that stood between them.
fn unbracketed(line: &str) -> (String, Vec<Range<usize>>) {
    let (mut text, mut ranges, mut open) = (String::new(), Vec::new(), 0);
    for c in line.chars() {
        match c {
            '[' => open = text.len(),
            ']' => ranges.push(open..text.len()),
            c => text.push(c),
        }
    }
    (text, ranges)
}

#[test]
fn dates() {
    let today = Day::parse(TODAY);
    for line in DATES.lines().filter(|line| !line.is_empty()) {
        let (text, named) = line.split_once(" | ").expect("text | dates");
        let (text, ranges) = unbracketed(text);
        let found = periods_in(&text, today);
        let shown: Vec<String> = found.iter().map(|(_, period)| show(*period)).collect();
        assert_eq!(shown.join(" "), named, "{text}");
        let at: Vec<Range<usize>> = found.into_iter().map(|(range, _)| range).collect();
        assert_eq!(at, ranges, "{text}");
    }
}

#[test]
fn no_dates() {
    for line in NO_DATES.lines() {
        assert_eq!(periods_in(line, Day::parse(TODAY)), [], "{line}");
    }
}

#[test]
fn without_a_today_only_full_dates_are_read() {
    let text = "yesterday, May 3, last week, 5月2日, 5. Mai, 昨天; 2024-05-03, May 2024";
    let days: Vec<String> = days_in(text, None)
        .iter()
        .map(|d| d.1.to_string())
        .collect();
    assert_eq!(days, ["2024-05-03"]);
    assert_eq!(periods_in(text, None).len(), 2);
}

#[test]
fn a_whole_text() {
    let read = |text: &str| whole_period(text, Day::parse(TODAY)).map(show);
    let some = |text: &str| Some(text.to_string());
    assert_eq!(read(" 2024 "), some("2024-01-01..2024-12-31"));
    assert_eq!(read("2024-02"), some("2024-02-01..2024-02-29"));
    assert_eq!(read("2024-02-29"), some("2024-02-29"));
    assert_eq!(read("last Monday"), some("2026-07-13"));
    for text in [
        "",
        "0000",
        "2024-02-30",
        "since 2024-02-01",
        "03/05/2024",
        "soon",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_date_and_nothing_else() {
    for (text, is_only) in [
        ("2024-05-03", true),
        ("2024_05_03", true),
        ("2024-05-03 Friday", true),
        ("2024-05-03, Fri", true),
        ("Friday, May 3rd, 2024", true),
        ("3. Mai 2024", true),
        ("2024-W18", true),
        ("2024-05", true),
        ("2024", false),
        ("2024-05-03 Kiln", false),
        ("2024-05-03 2", false),
        ("2024-05-03 to 2024-05-04", false),
        ("Friday", false),
        ("", false),
    ] {
        assert_eq!(is_only_a_period(text), is_only, "{text}");
    }
}

fn show(period: Period) -> String {
    match period.first == period.last {
        true => period.first.to_string(),
        false => format!("{}..{}", period.first, period.last),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn days_count_on(number in -700_000_i64..2_900_000) {
        let day = Day::from_epoch(number).expect("a year from 1 to 9999");
        prop_assert_eq!(day.to_epoch(), number);
        prop_assert_eq!(Day::parse(&day.to_string()), Some(day));
        let next = day.plus(1).expect("a day");
        prop_assert!(day < next);
        prop_assert_eq!((day.weekday() + 1) % 7, next.weekday());
        let week = Period::week_of(day).expect("a week");
        prop_assert!(week.contains(day) && week.first.weekday() == 0);
    }

    #[test]
    fn what_a_day_is_shown_as_is_read_back(number in 0_i64..50_000, before in "[a-z ]{0,8} ", after in "( [a-z]{0,8})?") {
        let day = Day::from_epoch(number).expect("a day");
        let text = format!("{before}{day}{after}");
        prop_assert_eq!(days_in(&text, None), vec![(before.len()..before.len() + 10, day)]);
    }

    #[test]
    fn any_text_is_read_without_a_fault(text in r"([0-9]{1,5}|[-/._,: ]|May|mai|last|ago|W|Q|日|月|年|\PC){0,24}") {
        let today = Day::parse(TODAY);
        let mut end = 0;
        for (range, period) in periods_in(&text, today) {
            prop_assert!(end <= range.start && range.start < range.end);
            prop_assert!(text.get(range.clone()).is_some());
            prop_assert!(period.first <= period.last);
            end = range.end;
        }
    }
}
