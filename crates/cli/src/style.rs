//! How words look in the terminal, and what may reach it at all.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};

/// Matched words.
pub(crate) const MATCH: Style = AnsiColor::Yellow.on_default().bold();
/// Paths and titles.
pub(crate) const TITLE: Style = AnsiColor::Cyan.on_default().bold();
/// Reasons, lines, dates.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Warnings.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Errors.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Follows the setting `color`.
pub(crate) fn set_color(when: &str) {
    match when {
        "always" => anstream::ColorChoice::Always.write_global(),
        "never" => anstream::ColorChoice::Never.write_global(),
        _ => {}
    }
}

/// Whether to write links that terminals open. `when`: the setting `links`.
pub(crate) fn links(when: &str) -> bool {
    match when {
        "always" => true,
        "never" => false,
        _ => std::io::stdout().is_terminal() && terminal_shows_links(),
    }
}

/// How many columns standard output has; nothing where it is no terminal.
pub(crate) fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let columns = terminal_size::terminal_size().map_or(0, |(columns, _)| columns.0);
    // Some terminals do not say.
    Some(if columns == 0 { 80 } else { columns.into() })
}

/// Terminals that are known to show links; others might print the address as rubbish.
fn terminal_shows_links() -> bool {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let programs = [
        "iTerm.app",
        "WezTerm",
        "vscode",
        "ghostty",
        "Hyper",
        "Tabby",
        "rio",
    ];
    let terms = ["kitty", "alacritty", "foot", "ghostty", "wezterm"];
    programs.contains(&variable("TERM_PROGRAM").as_str())
        || terms.iter().any(|term| variable("TERM").contains(term))
        || variable("VTE_VERSION")
            .parse::<u32>()
            .is_ok_and(|version| version >= 5000)
        || ["WT_SESSION", "KONSOLE_VERSION", "DOMTERM"]
            .iter()
            .any(|name| !variable(name).is_empty())
}

/// Text of a note as it may reach a terminal: control characters and bidirectional overrides
/// become visible signs, so that no note can move the cursor, colour the screen or hide words.
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c,
                // Marks that reorder what is shown.
                '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
                // Line ends that are none in a file, and letters that are not seen at all.
                | '\u{2028}' | '\u{2029}' | '\u{E0000}'..='\u{E007F}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let safe = |c: char| match c {
        '\r' => ' ',
        c if is_harmful(c) => '\u{FFFD}',
        c => c,
    };
    Cow::Owned(text.replace("\r\n", "\n").chars().map(safe).collect())
}

/// The same on one line, for paths, titles and messages.
pub(crate) fn inert_line(text: &str) -> String {
    inert(text).replace(['\n', '\t'], " ")
}

/// Text in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Data, to standard output. A reader that goes away is no error.
pub(crate) fn print_data(text: &str) {
    let mut out = std::io::stdout().lock();
    written(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Text for people, to standard output; colours only where they are shown.
pub(crate) fn print_text(text: &str) {
    let mut out = anstream::stdout().lock();
    written(write!(out, "{text}").and_then(|()| out.flush()));
}

/// A reader that went away has read enough; any other trouble is a failure of the command.
fn written(result: std::io::Result<()>) {
    if let Err(error) = result
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        fail(&format!("standard output cannot be written: {error}"), "");
        std::process::exit(2);
    }
}

/// A warning, to standard error.
pub(crate) fn warn(message: &str) {
    let _ = writeln!(
        anstream::stderr(),
        "{} {}",
        styled(WARN, "warning:"),
        inert(message)
    );
}

/// Something to know, to standard error.
pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{}", styled(FAINT, &inert(message)));
}

/// An error with what to try, to standard error.
pub(crate) fn fail(message: &str, hint: &str) {
    let mut err = anstream::stderr();
    let _ = writeln!(err, "{} {}", styled(ERROR, "error:"), inert(message));
    if !hint.is_empty() {
        let _ = writeln!(err, "  {}", styled(FAINT, &inert(hint)));
    }
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn nothing_of_a_note_moves_the_terminal() {
        assert_eq!(
            inert("a\u{1b}[31mb\u{7}\u{202e}c\r\nd\te"),
            "a\u{fffd}[31mb\u{fffd}\u{fffd}c\nd\te"
        );
        assert_eq!(inert("plain — 釉薬"), "plain — 釉薬");
    }
}
