//! Serves one folder of notes over HTTP on this machine, without a bridge and without asking who
//! it is that asks: for the checks of the gate, and nothing else. Prints its address, and ends when
//! standard input does.
//!
//! `serve_http HOME FOLDER`: HOME is where settings and index lie.

use std::error::Error;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use lorewell_mcp::{AskedThrough, Backend, InProcess, http_service};
use lorewell_setup::{Environment, Flags};
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(home), Some(folder)) = (words.next(), words.next()) else {
        return Err("serve_http HOME FOLDER".into());
    };
    let home = PathBuf::from(home);
    let environment = Environment {
        config_dir: home.join(".config"),
        data_dir: home.join(".local/share"),
        vars: Default::default(),
        current_dir: home.clone(),
        home,
    };
    let backend = InProcess::new(environment, Flags::new(), Some(folder));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(Arc::new(backend)))?;
    runtime.shutdown_background();
    Ok(())
}

async fn serve(backend: Arc<dyn Backend>) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let hosts = [address.to_string(), format!("localhost:{}", address.port())];
    let origins = hosts.clone().map(|host| format!("http://{host}"));
    let let_in = move |mut request: Request, next: Next| {
        let asked = AskedThrough(Arc::clone(&backend));
        request.extensions_mut().insert(asked);
        next.run(request)
    };
    let router = Router::new()
        .nest_service("/mcp", http_service(&hosts, &origins, 1 << 20))
        .layer(from_fn(let_in));
    println!("http://{address}/mcp");
    let end = tokio::task::spawn_blocking(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    });
    tokio::select! {
        served = axum::serve(listener, router) => served?,
        _ = end => {}
    }
    Ok(())
}
