//! "Did you mean": the known name nearest to a misspelt one.

/// The candidate that `word` most likely meant, if any is near: case and the
/// choice between `-`, `.` and `_` do not count, and at most a third of the
/// letters (two at least) may differ.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let folded = fold(word);
    let allowed = (folded.chars().count() / 3).max(2);
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, &fold(candidate));
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

fn fold(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', '.', ' '], "_")
}
