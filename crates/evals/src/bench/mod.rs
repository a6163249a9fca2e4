//! x
use clap::Args;
/// Wish
#[derive(Args)]
pub struct Wish {}
/// Part
#[derive(Args)]
pub struct Part {}
/// x
pub fn run(_: &Wish) -> anyhow::Result<()> { Ok(()) }
/// x
pub fn run_part(_: &Part) -> anyhow::Result<()> { Ok(()) }
