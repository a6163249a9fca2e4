//! tmp
use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::*;
use std::time::Instant;
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let layout = Layout::new(std::path::Path::new(&folder));
    if let Some(root) = std::env::args().nth(2) {
        let vault = lorewell_vault::Vault::open(std::path::Path::new(&root)).unwrap();
        let listing = vault.list(&lorewell_vault::Rules::default()).unwrap();
        let lock = Lock::wait(&layout).unwrap();
        let mut w = Writer::open(&layout, lock, StaticModel::built_in()).unwrap();
        w.update(&vault, &listing, &IndexSettings::default(), StaticModel::built_in(), &Quiet).unwrap();
    }
    let s = Snapshot::open(&layout, StaticModel::built_in().fingerprint().as_str()).unwrap();
    let names = s.names().unwrap();
    let mut ids: Vec<u32> = names.iter().map(|n| n.note).collect();
    ids.sort(); ids.dedup();
    println!("{} notes", ids.len());
    let t = Instant::now();
    let all = s.all_links().unwrap();
    println!("all_links {} in {:?}", all.len(), t.elapsed());
    let mut x = 12345u64;
    let mut times = vec![]; let mut edges = 0;
    for _ in 0..300 {
        let pick: Vec<u32> = (0..10).map(|_| { x ^= x << 13; x ^= x >> 7; x ^= x << 17; ids[(x % ids.len() as u64) as usize] }).collect();
        let t = Instant::now();
        edges += s.link_neighbours(&pick).unwrap().len();
        times.push(t.elapsed());
    }
    times.sort();
    println!("10 notes: p50 {:?} p90 {:?} p99 {:?} max {:?}; edges/call {}", times[150], times[270], times[297], times[299], edges/300);
    let mut worst = vec![];
    for id in &ids { let n = s.note(*id).unwrap().unwrap(); let t = Instant::now(); let l = s.links_to(&n).unwrap().len(); worst.push((t.elapsed(), l, n.path)); }
    worst.sort(); worst.reverse();
    for w in worst.iter().take(5) { println!("{w:?}"); }
    println!("median {:?}", worst[worst.len()/2]);
}
