//! How long an exact scan takes: `cargo bench -p lorewell-vectors`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lorewell_vectors::{RowSet, VectorReader, VectorWriter};

const DIMENSION: usize = 256;

/// Random enough, and the same in each run.
fn numbers(seed: u64) -> impl Iterator<Item = f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    })
}

fn scan(criterion: &mut Criterion) {
    let question: Vec<f32> = numbers(7).take(DIMENSION).collect();
    for rows in [50_000u32, 1_000_000] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut writer = VectorWriter::open(dir.path(), DIMENSION, 0).expect("a writer");
        let mut stream = numbers(3);
        for row in 0..rows {
            let vector: Vec<f32> = stream.by_ref().take(DIMENSION).collect();
            let mut key = [0; 16];
            key[..4].copy_from_slice(&row.to_le_bytes());
            writer.append(key, &vector);
        }
        writer.sync().expect("a sync");
        let reader = VectorReader::open(dir.path(), DIMENSION, u64::from(rows)).expect("a reader");
        let tenth: RowSet = (0..rows).filter(|row| row % 10 == 0).collect();
        let mut group = criterion.benchmark_group(format!("scan/{rows}x{DIMENSION}"));
        group.sample_size(20);
        group.throughput(Throughput::Elements(u64::from(rows)));
        group.bench_function("all", |bench| {
            bench.iter(|| reader.scan(black_box(&question), 100, None));
        });
        group.bench_function("a tenth allowed", |bench| {
            bench.iter(|| reader.scan(black_box(&question), 100, Some(&tenth)));
        });
        group.bench_function("open", |bench| {
            bench.iter(|| VectorReader::open(dir.path(), DIMENSION, u64::from(rows)));
        });
        group.finish();
    }
}

criterion_group!(benches, scan);
criterion_main!(benches);
