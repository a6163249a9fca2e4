//! In which numbers a model is computed, and on what.

use std::fmt;
use std::str::FromStr;

use crate::EncoderError;

/// In which numbers a model is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Floats of 32 bits: the reference.
    F32,
    /// Weights kept as floats of 16 bits, computed in 32.
    F16,
    /// Weights as bytes with a scale for each output, activations as bytes with a scale for each
    /// token: four times smaller, and several times as fast.
    Q8,
}

impl Precision {
    /// Its name: `f32`, `f16`, `q8`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8 => "q8",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Precision {
    type Err = EncoderError;

    /// # Errors
    /// There is no such precision; the message lists those that there are.
    fn from_str(name: &str) -> Result<Self, EncoderError> {
        [Self::F32, Self::F16, Self::Q8]
            .into_iter()
            .find(|precision| precision.name() == name)
            .ok_or_else(|| {
                EncoderError::Unavailable(format!(
                    "there is no precision `{name}`; there are q8, f16 and f32"
                ))
            })
    }
}

/// What a model is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
}

impl FromStr for Device {
    type Err = EncoderError;

    /// # Errors
    /// There is no path for that device yet, or no such device.
    fn from_str(name: &str) -> Result<Self, EncoderError> {
        match name.to_ascii_lowercase().as_str() {
            "cpu" => Ok(Self::Cpu),
            "gpu" | "cuda" | "metal" | "mps" | "rocm" | "vulkan" | "directml" | "webgpu"
            | "coreml" | "npu" => Err(EncoderError::Unavailable(format!(
                "there is no GPU path yet, so the device `{name}` cannot be used; `cpu` can"
            ))),
            _ => Err(EncoderError::Unavailable(format!(
                "there is no device `{name}`; there is `cpu`"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        assert_eq!("q8".parse::<Precision>().unwrap(), Precision::Q8);
        let error = "int4".parse::<Precision>().unwrap_err();
        assert!(error.to_string().contains("`int4`"));
        assert_eq!("CPU".parse::<Device>().unwrap(), Device::Cpu);
        let error = "cuda".parse::<Device>().unwrap_err();
        assert!(error.to_string().contains("there is no GPU path yet"));
        assert_eq!(error.code(), "model_device_unavailable");
        assert!("abacus".parse::<Device>().is_err());
    }
}
