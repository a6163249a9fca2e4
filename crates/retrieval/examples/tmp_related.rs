//! tmp
use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::*;
use lorewell_retrieval::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let layout = Layout::new(std::path::Path::new(&args[1]));
    let e = StaticModel::built_in();
    if !layout.folder().join("catalogue.sqlite").exists() {
        std::fs::create_dir_all(layout.folder()).unwrap();
        let vault = lorewell_vault::Vault::open(std::path::Path::new(&args[2])).unwrap();
        let listing = vault.list(&lorewell_vault::Rules::default()).unwrap();
        let lock = Lock::wait(&layout).unwrap();
        let mut w = Writer::open(&layout, lock, e).unwrap();
        w.update(&vault, &listing, &IndexSettings::default(), e, &Quiet).unwrap();
    }
    let s = Snapshot::open(&layout, e.fingerprint().as_str()).unwrap();
    let mut labels = s.labels().unwrap();
    let ask = |note: StoredNote, reasons: Vec<RelatedReason>, apart| {
        let r = RelatedRequest { note, limit: 10, scope: Scope::default(), reasons, weights: RelatedWeights::default(), apart };
        related(&s, e, &r).unwrap()
    };
    if args.len() > 3 && args[3] == "time" {
        let step = labels.len() / 500 + 1;
        let mut n = 0; let mut times = vec![];
        for l in labels.iter().step_by(step) { let note = s.note(l.id).unwrap().unwrap(); let t = Instant::now(); ask(note, RelatedReason::ALL.to_vec(), None); times.push((t.elapsed(), l.path.clone())); n += 1; }
        times.sort();
        println!("{n} calls p50 {:?} p95 {:?} p99 {:?} max {:?}", times[n/2].0, times[n*95/100], times[n*99/100], times[n-1]);
        return;
    }
    if args.len() > 3 && args[3] != "eval" {
        for name in &args[3..] {
            let note = match s.note_at(name).unwrap() { Some(n) => n, None => { println!("no {name}"); continue } };
            println!("== {name}");
            let t = Instant::now();
            let found = ask(note, RelatedReason::ALL.to_vec(), None);
            println!("   {:?} {:?}", t.elapsed(), found.dense.state);
            for n in found.notes {
                let parts: Vec<String> = n.trace.iter().map(|p| format!("{}={:.2}", p.reason.name(), p.strength)).collect();
                let why: Vec<String> = n.signals.iter().filter_map(|x| match x { RelatedSignal::Words(w) => Some(w.join(",")), RelatedSignal::Tag(t) => Some(format!("#{}", t.join(" #"))), _ => None }).collect();
                println!("  {:.2} {}  [{}] {}", n.score, s.path_of(n.note).unwrap(), parts.join(" "), why.join(" | "));
            }
        }
        return;
    }
    let sets: Vec<(&str, Vec<RelatedReason>)> = {
        use RelatedReason::*;
        vec![("all", RelatedReason::ALL.to_vec()), ("neighbour", vec![Neighbour]), ("tag", vec![Tag]), ("words", vec![Words]), ("dense", vec![Dense]), ("words+dense", vec![Words, Dense]), ("no dense", vec![Link, Neighbour, Tag, Words]), ("no words", vec![Link, Neighbour, Tag, Dense])]
    };
    let mut x = 88172645463325252u64;
    let mut rnd = move || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; x };
    for i in (1..labels.len()).rev() { let j = (rnd() % (i as u64 + 1)) as usize; labels.swap(i, j); }
    let mut pairs = vec![];
    for l in &labels {
        let n = s.note(l.id).unwrap().unwrap();
        let t: Vec<u32> = s.link_neighbours(&[n.id]).unwrap().iter().filter(|e| e.from == n.id).map(|e| e.to).collect();
        if t.is_empty() { continue; }
        let to = t[(rnd() % t.len() as u64) as usize];
        if s.passages_of(to).unwrap().is_empty() { continue; }
        pairs.push((n, to));
        if pairs.len() == 300 { break; }
    }
    println!("{} pairs", pairs.len());
    let _ = sets;
    use RelatedReason::*;
    // traces once
    let mut all = vec![];
    for (n, to) in &pairs {
        let r = RelatedRequest { note: n.clone(), limit: 2000, scope: Scope::default(), reasons: RelatedReason::ALL.to_vec(), weights: RelatedWeights { link: 1., neighbour: 1., tag: 1., words: 1., dense: 1. }, apart: Some(*to) };
        let found = related(&s, e, &r).unwrap();
        let linked: Vec<u32> = s.link_neighbours(&[n.id]).unwrap().iter().map(|e| if e.from == n.id { e.to } else { e.from }).collect();
        let c: Vec<(u32, [f32; 5])> = found.notes.iter().filter(|f| f.note == *to || !linked.contains(&f.note)).map(|f| { let mut v = [0f32; 5]; for p in &f.trace { v[p.reason as usize] = p.strength; } (f.note, v) }).collect();
        all.push((*to, c));
    }
    let eval = |w: [f32; 5]| {
        let (mut hit, mut rr) = (0, 0.0);
        for (to, c) in &all {
            let f = std::env::var("FL").ok().and_then(|x| x.parse::<f32>().ok()).unwrap_or(0.0);
            let g = std::env::var("FD").ok().and_then(|x| x.parse::<f32>().ok()).unwrap_or(0.0);
            let score = |v: &[f32; 5]| [v[0], v[1], v[2], ((v[3] - f) / (1.0 - f)).max(0.0), ((v[4] - g) / (1.0 - g)).max(0.0)].iter().zip(w).map(|(a, b)| a * b).sum::<f32>();
            let Some((_, mine)) = c.iter().find(|x| x.0 == *to) else { continue };
            let mine = score(mine);
            if mine <= 0.0 { continue; }
            let above = c.iter().filter(|x| score(&x.1) > mine).count();
            if above < 10 { hit += 1; }
            rr += 1.0 / (above as f64 + 1.0);
        }
        (hit as f64 / all.len() as f64, rr / all.len() as f64)
    };
    let cand = all.iter().filter(|(to, c)| c.iter().any(|x| x.0 == *to)).count();
    println!("target among candidates {:.3}", cand as f64 / all.len() as f64);
    for r in [Neighbour, Tag, Words, Dense] { let mut w = [0.; 5]; w[r as usize] = 1.; let (h, m) = eval(w); println!("{:10} {h:.3} {m:.3}", r.name()); }
    for w in [[0., 0.25, 0.15, 0.4, 0.25], [0., 0.25, 0.15, 0.3, 0.3], [0., 0., 0.15, 0.3, 0.3], [0., 0.25, 0.15, 0.3, 0.], [0., 0.25, 0.15, 0., 0.3], [0., 0.4, 0.15, 0.3, 0.3], [0., 0.15, 0.15, 0.3, 0.3], [0., 0.25, 0.15, 0.4, 0.3], [0., 0.25, 0.15, 0.3, 0.4], [0., 0.25, 0.15, 0.4, 0.2], [0., 0.25, 0.15, 0.5, 0.3], [0., 0.25, 0.15, 0.2, 0.3]] { let (h, m) = eval(w); println!("{w:?} {h:.3} {m:.3}"); }
}
