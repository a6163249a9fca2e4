//! Addresses, and the connections that come in at them.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tracing::warn;

use crate::BridgeError;
use crate::office::Office;

/// So many ports behind the wanted one are tried.
const MORE_PORTS: u16 = 20;

/// The longest head of a request, in bytes.
const HEAD_SIZE: usize = 32 * 1024;

/// Listens at `port`, or at the next that is free: on this machine alone, unless `address` names
/// another. Port 0 is any.
pub(crate) async fn bind(
    address: Option<IpAddr>,
    port: u16,
) -> Result<Vec<TcpListener>, BridgeError> {
    let main = address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let last = match port {
        0 => 0,
        port => port.saturating_add(MORE_PORTS),
    };
    for port in port..=last {
        match TcpListener::bind(SocketAddr::new(main, port)).await {
            Ok(listener) => {
                let mut listeners = vec![listener];
                if address.is_none() {
                    let port = port_of(&listeners[0]).unwrap_or(port);
                    match TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
                        Ok(listener) => listeners.push(listener),
                        // Somebody else sits there: clients that ask [::1] would ask them.
                        Err(error) if error.kind() == ErrorKind::AddrInUse => continue,
                        Err(error) => tracing::info!(kind = ?error.kind(), "no IPv6 here"),
                    }
                }
                return Ok(listeners);
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(source) => {
                let place = SocketAddr::new(main, port).to_string();
                return Err(BridgeError::io(Path::new(&place), source));
            }
        }
    }
    Err(BridgeError::NoFreePort {
        first: port,
        tried: last - port,
    })
}

fn port_of(listener: &TcpListener) -> Option<u16> {
    listener.local_addr().ok().map(|address| address.port())
}

/// Takes connections until the bridge stops, and waits for those that are being answered. All
/// addresses share the places.
pub(crate) async fn serve(listener: TcpListener, router: Router, office: Arc<Office>) {
    let mut running = JoinSet::new();
    loop {
        while running.try_join_next().is_some() {}
        let taken = async {
            // The connection first: a listener to which nobody comes keeps no place from others.
            let stream = listener.accept().await;
            let place = Arc::clone(&office.connections).acquire_owned().await;
            (stream, place)
        };
        let (stream, place) = tokio::select! {
            taken = taken => taken,
            () = office.closing() => break,
        };
        let Ok(place) = place else { return };
        match stream {
            Ok((stream, _)) => {
                let (router, office) = (router.clone(), Arc::clone(&office));
                running.spawn(async move {
                    let _place = place;
                    converse(stream, router, &office).await;
                });
            }
            Err(error) => {
                warn!(kind = ?error.kind(), "a connection was not taken");
                // The system has no more to give for now.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    while running.join_next().await.is_some() {}
}

async fn converse(stream: TcpStream, router: Router, office: &Office) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(office.bridge.limits().head_time)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that goes away is no error.
        _ = connection.as_mut() => return,
        () = office.closing() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
