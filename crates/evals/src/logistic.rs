//! Logistic regression, and how good a probability is: as an order, as a number.

use anyhow::{Result, bail};

/// One case: what is known, whether it is so, and how much it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What is known.
    pub features: Vec<f64>,
    /// Whether it is so.
    pub is_so: bool,
    /// How much it counts, at least 0.
    pub weight: f64,
}

/// A fitted model: the constant, then one coefficient for each feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Model(pub Vec<f64>);

/// Steps of Newton's method at most; it takes fewer than ten on sound data.
const STEPS: usize = 50;
/// Steps shorter than this change no figure.
const STILL: f64 = 1e-9;

impl Model {
    /// The probability that it is so.
    pub fn probability(&self, features: &[f64]) -> f64 {
        let (constant, coefficients) = self
            .0
            .split_first()
            .map_or((0.0, &[][..]), |(c, r)| (*c, r));
        let products = coefficients.iter().zip(features).map(|(c, x)| c * x);
        1.0 / (1.0 + (-(constant + products.sum::<f64>())).exp())
    }

    /// Minimises `Σ weight · log loss + ridge / 2 · Σ coefficient²` by Newton's method; the
    /// constant is free (Hastie, Tibshirani and Friedman, *The Elements of Statistical Learning*,
    /// 2009, sections 4.4.1 and 4.4.4). `ridge` above 0 keeps the answer unique and finite.
    ///
    /// # Errors
    /// No case, cases of different lengths, all cases alike in `is_so`.
    pub fn fit(cases: &[Case], ridge: f64) -> Result<Model> {
        let Some(first) = cases.first() else {
            bail!("nothing to fit");
        };
        let size = first.features.len() + 1;
        if cases.iter().any(|case| case.features.len() + 1 != size) {
            bail!("cases know different things");
        }
        if cases.iter().all(|case| case.is_so == first.is_so) {
            bail!("all cases are alike: nothing to tell apart");
        }
        let mut model = Model(vec![0.0; size]);
        for _ in 0..STEPS {
            let (slope, curve) = model.slope_and_curve(cases, ridge);
            let Some(step) = solve(curve, slope) else {
                bail!("the features of these cases depend on each other; fit with a ridge above 0");
            };
            for (coefficient, step) in model.0.iter_mut().zip(&step) {
                *coefficient -= step;
            }
            if step.iter().all(|step| step.abs() < STILL) {
                break;
            }
        }
        Ok(model)
    }

    /// First and second derivatives of what [`Model::fit`] minimises.
    fn slope_and_curve(&self, cases: &[Case], ridge: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
        let size = self.0.len();
        let mut slope = vec![0.0; size];
        let mut curve = vec![vec![0.0; size]; size];
        for case in cases {
            let p = self.probability(&case.features);
            let off = case.weight * (p - f64::from(u8::from(case.is_so)));
            let bend = case.weight * p * (1.0 - p);
            let row: Vec<f64> = std::iter::once(1.0)
                .chain(case.features.iter().copied())
                .collect();
            for (i, x) in row.iter().enumerate() {
                slope[i] += off * x;
                for (j, y) in row.iter().enumerate() {
                    curve[i][j] += bend * x * y;
                }
            }
        }
        for i in 1..size {
            slope[i] += ridge * self.0[i];
            curve[i][i] += ridge;
        }
        (slope, curve)
    }
}

/// Solves `matrix · x = right` by elimination with row exchange; nothing if that has no one answer.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for at in 0..size {
        let pivot =
            (at..size).max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs()))?;
        if matrix[pivot][at].abs() < 1e-12 {
            return None;
        }
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        let pivot = matrix[at].clone();
        for below in at + 1..size {
            let factor = matrix[below][at] / pivot[at];
            for (cell, above) in matrix[below].iter_mut().zip(&pivot) {
                *cell -= factor * above;
            }
            right[below] -= factor * right[at];
        }
    }
    let mut x = vec![0.0; size];
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size)
            .map(|column| matrix[at][column] * x[column])
            .sum();
        x[at] = (right[at] - known) / matrix[at][at];
    }
    Some(x)
}

/// A probability that was given, and whether it was so.
pub type Judged = (f64, bool);

/// How often a case that is so has the higher probability, of all pairs of one that is and one
/// that is not; ties count half (area under the ROC curve; Hanley and McNeil, Radiology 1982).
/// Nothing without such a pair.
pub fn auc(judged: &[Judged]) -> Option<f64> {
    let mut sorted = judged.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positive = sorted.iter().filter(|(_, is_so)| *is_so).count() as f64;
    let negative = sorted.len() as f64 - positive;
    let (mut below, mut won) = (0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let so = tied.iter().filter(|(_, is_so)| *is_so).count() as f64;
        let not = tied.len() as f64 - so;
        won += so * (below + 0.5 * not);
        below += not;
    }
    (positive > 0.0 && negative > 0.0).then(|| won / (positive * negative))
}

/// The mean squared distance of probability and outcome (Brier, Monthly Weather Review 1950); 0 of
/// nothing.
pub fn brier(judged: &[Judged]) -> f64 {
    let squares: f64 = judged
        .iter()
        .map(|(p, is_so)| (p - f64::from(u8::from(*is_so))).powi(2))
        .sum();
    squares / judged.len().max(1) as f64
}

/// Probabilities of one tenth of the range, against what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// How many cases.
    pub cases: usize,
    /// Their mean probability.
    pub said: f64,
    /// The share that was so.
    pub was: f64,
}

/// Ten bins of equal width over 0..1.
pub fn bins(judged: &[Judged]) -> [Bin; 10] {
    let mut bins = [Bin::default(); 10];
    for (p, is_so) in judged {
        let bin = &mut bins[((p * 10.0) as usize).min(9)];
        bin.cases += 1;
        bin.said += p;
        bin.was += f64::from(u8::from(*is_so));
    }
    for bin in bins.iter_mut().filter(|bin| bin.cases > 0) {
        bin.said /= bin.cases as f64;
        bin.was /= bin.cases as f64;
    }
    bins
}

/// Expected calibration error: the distance of what was said and what was, over ten bins, each
/// counted by its cases (Naeini, Cooper and Hauskrecht, AAAI 2015); 0 of nothing.
pub fn calibration_error(judged: &[Judged]) -> f64 {
    let sum: f64 = bins(judged)
        .iter()
        .map(|bin| bin.cases as f64 * (bin.said - bin.was).abs())
        .sum();
    sum / judged.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use lorewell_evaluation::Chance;

    use super::*;

    /// Cases drawn from a model, `chance` deciding.
    fn drawn(model: &Model, count: usize) -> Vec<Case> {
        let mut chance = Chance::new(7);
        let mut unit = || chance.below(1_000_000) as f64 / 1e6;
        (0..count)
            .map(|_| {
                let features: Vec<f64> = model.0[1..].iter().map(|_| 2.0 * unit() - 1.0).collect();
                let is_so = unit() < model.probability(&features);
                Case {
                    features,
                    is_so,
                    weight: 1.0,
                }
            })
            .collect()
    }

    #[test]
    fn a_fit_recovers_what_the_cases_were_drawn_from() {
        let truth = Model(vec![-1.0, 3.0, 0.0, -2.0]);
        let cases = drawn(&truth, 40_000);
        let fitted = Model::fit(&cases, 1.0).unwrap();
        for (found, wanted) in fitted.0.iter().zip(&truth.0) {
            assert!((found - wanted).abs() < 0.1, "{fitted:?}");
        }
        // At the minimum the slope is nothing.
        let (slope, _) = fitted.slope_and_curve(&cases, 1.0);
        assert!(slope.iter().all(|s| s.abs() < 1e-6), "{slope:?}");
        // A case of weight two counts like two cases.
        let twice: Vec<Case> = cases[..500]
            .iter()
            .flat_map(|c| [c.clone(), c.clone()])
            .collect();
        let heavy: Vec<Case> = cases[..500]
            .iter()
            .map(|c| Case {
                weight: 2.0,
                ..c.clone()
            })
            .collect();
        let (twice, heavy) = (
            Model::fit(&twice, 1.0).unwrap(),
            Model::fit(&heavy, 1.0).unwrap(),
        );
        assert!(
            twice
                .0
                .iter()
                .zip(&heavy.0)
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
        // More ridge, smaller coefficients.
        let stiff = Model::fit(&cases[..500], 1000.0).unwrap();
        assert!(stiff.0[1].abs() < heavy.0[1].abs() / 2.0);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let case = |features: &[f64], is_so| Case {
            features: features.to_vec(),
            is_so,
            weight: 1.0,
        };
        let wrong: [&[Case]; 4] = [
            &[],
            &[case(&[1.0], true), case(&[0.0], true)],
            &[case(&[1.0], true), case(&[1.0, 2.0], false)],
            &[case(&[1.0, 1.0], true), case(&[1.0, 1.0], false)],
        ];
        for cases in wrong {
            assert!(Model::fit(cases, 0.0).is_err());
        }
        // Parted cleanly, the ridge keeps it finite.
        let parted = Model::fit(&[case(&[1.0], true), case(&[-1.0], false)], 1.0).unwrap();
        assert!(parted.0[1] > 0.0 && parted.0[1].is_finite() && parted.0[0].abs() < 1e-9);
    }

    #[test]
    fn order_and_error_of_hand_made_cases() {
        let judged = [(0.9, true), (0.8, false), (0.7, true), (0.1, false)];
        assert_eq!(auc(&judged), Some(0.75));
        assert_eq!(auc(&[(0.5, true), (0.5, false)]), Some(0.5));
        assert_eq!(auc(&[(0.2, true), (0.3, true)]), None);
        assert!((brier(&judged) - (0.01 + 0.64 + 0.09 + 0.01) / 4.0).abs() < 1e-12);
        let bin = bins(&judged)[7];
        assert_eq!((bin.cases, bin.was), (1, 1.0));
        // Distances .1, .8, .3, .1, each a case of four.
        assert!((calibration_error(&judged) - 1.3 / 4.0).abs() < 1e-12);
        // Half of what is said to be half is so.
        assert_eq!(calibration_error(&[(0.5, true), (0.5, false)]), 0.0);
        assert_eq!(bins(&[(1.0, true)])[9].cases, 1);
        assert_eq!((brier(&[]), calibration_error(&[])), (0.0, 0.0));
    }
}
