//! How long to wait before a server is asked again.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// The first wait where the server names none; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(16);

/// What a `Retry-After` header says: seconds, or a date (RFC 9110, 10.2.3). A date that is past
/// means now.
pub(crate) fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0)
            .then(|| Duration::from_secs_f64(seconds.min(1e9)));
    }
    let until = DateTimeParser::new()
        .parse_timestamp(header)
        .ok()?
        .as_second();
    let until = Duration::from_secs(u64::try_from(until).unwrap_or(0));
    let now = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Some(until.saturating_sub(now))
}

/// The wait before the next attempt, after so many that failed; `chance` from 0 to 1 spreads the
/// clients of one server by half of it.
pub(crate) fn backoff(failed: u32, chance: f64) -> Duration {
    let whole = FIRST.saturating_mul(1 << failed.min(10)).min(LONGEST);
    whole.mul_f64(0.75 + 0.5 * chance)
}

/// A number from 0 to 1.
pub(crate) fn chance() -> f64 {
    let number = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(number) / f64::from(u32::MAX)
}

/// A time from now, for people.
pub(crate) fn clock(after: Duration) -> String {
    let until = Timestamp::now()
        .as_second()
        .saturating_add_unsigned(after.as_secs());
    Timestamp::from_second(until).map_or_else(
        |_| "later".to_string(),
        |until| until.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |header| retry_after(header, now);
        assert_eq!(read("3"), Some(Duration::from_secs(3)));
        assert_eq!(read(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(
            read("Sun, 06 Nov 1994 08:49:40 GMT"),
            Some(Duration::from_secs(3))
        );
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(
            (read("-1"), read("soon"), read("NaN"), read("")),
            (None, None, None, None)
        );
    }

    #[test]
    fn waits_grow_to_a_bound_and_are_spread() {
        assert_eq!(backoff(0, 0.5), FIRST);
        assert_eq!(backoff(3, 0.5), FIRST * 8);
        assert_eq!(backoff(40, 0.5), LONGEST);
        assert!(backoff(3, 0.0) < backoff(3, 1.0));
    }
}
