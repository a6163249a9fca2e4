//! scratch
use lorewell_engine::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let host = Host::open("v", a[1].as_ref(), a[2].as_ref(), EngineSettings::default()).unwrap();
    let f = host.refresh(Patience::Read, &Quiet).unwrap();
    eprintln!("refresh {:?} {:?}", f, t.elapsed());
    let t = std::time::Instant::now();
    let v = host.view().unwrap();
    eprintln!("view {:?} {:?}", v.totals(), t.elapsed());
    for q in &a[3..] {
        let t = std::time::Instant::now();
        let r = v.search(&Request::new(q.clone())).unwrap();
        eprintln!("search {:?} conf {:?} {:?}", t.elapsed(), r.confidence, r.degraded);
        for p in r.passages { println!("{} {:.2} {} {:?} {:?} {:?}", p.rank, p.score, p.note.path, p.passage.heading_path, p.signals, p.passage.text.chars().take(100).collect::<String>()); }
    }
}
