//! From f32 to integers: rows to 8 bits, questions to 12.

/// A question as integers; see [`Question::new`].
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// -2,047..=2,047 each.
    pub(crate) values: Vec<i16>,
    /// `dot(values, row) × row scale × this` is the cosine.
    pub(crate) scale: f32,
}

/// A vector as a row of bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuantizedRow {
    /// -127..=127 each, as i8 bits.
    pub(crate) bytes: Vec<u8>,
    /// `scale × bytes` is of unit length; 0 for a zero vector.
    pub(crate) scale: f32,
}

/// The greatest value of a row's byte.
const ROW_LEVELS: f32 = 127.0;

/// The greatest value of a question's number: finer than a row's, so that the question adds no
/// rounding worth naming, and still too small for an i32 sum to overflow.
const QUESTION_LEVELS: f32 = 2047.0;

impl Question {
    /// None when the question has no direction: zero, or not finite.
    pub(crate) fn new(question: &[f32]) -> Option<Self> {
        let step = QUESTION_LEVELS / greatest(question)?;
        let values: Vec<i16> = question
            .iter()
            .map(|value| nearest(value * step) as i16)
            .collect();
        let squares: i64 = values.iter().map(|&v| i64::from(v) * i64::from(v)).sum();
        Some(Self {
            values,
            scale: unit_scale(squares),
        })
    }
}

impl QuantizedRow {
    /// Quantizes symmetrically with the vector's own greatest value; its length does not matter. A
    /// vector without direction becomes zeros.
    pub(crate) fn new(vector: &[f32]) -> Self {
        let step = greatest(vector).map_or(0.0, |greatest| ROW_LEVELS / greatest);
        let bytes: Vec<u8> = vector
            .iter()
            .map(|value| (nearest(value * step) as i8).cast_unsigned())
            .collect();
        let squares: i64 = bytes
            .iter()
            .map(|&byte| i64::from(byte.cast_signed()).pow(2))
            .sum();
        Self {
            bytes,
            scale: unit_scale(squares),
        }
    }
}

/// The greatest magnitude, if it is finite and its inverse is too.
fn greatest(values: &[f32]) -> Option<f32> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let greatest = values
        .iter()
        .fold(0f32, |most, value| most.max(value.abs()));
    (greatest > f32::MIN_POSITIVE * QUESTION_LEVELS).then_some(greatest)
}

/// What a cast, which cuts off, turns into the nearest whole number; `round` is a slow call where
/// the processor's baseline lacks the instruction.
fn nearest(value: f32) -> f32 {
    value + 0.5f32.copysign(value)
}

/// What makes integers with this sum of squares one unit long.
fn unit_scale(squares: i64) -> f32 {
    if squares == 0 {
        0.0
    } else {
        (1.0 / (squares as f64).sqrt()) as f32
    }
}
