//! Measures how fast one reader and 16 concurrent readers can read chunks of a long video from a
//! running service. For comparison, they also read files that the service sends from memory.
//!
//! ```text
//! cargo run --release --example readers -- http://127.0.0.1:8080 VIDEO_ID
//! ```
//!
//! `scripts/bench/chunks.py` creates such a video. The ratio compares the responses per second for
//! a page of chunks with those for the web UI file closest to it in size.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Number of chunks per page.
const PAGE: usize = 50;

/// Number of concurrent readers.
const READERS: usize = 16;

/// How long the concurrent readers run.
const DURATION: Duration = Duration::from_secs(4);

/// Number of measurements of each kind; their median is reported.
const ROUNDS: usize = 3;

/// Number of requests that the single reader sends.
const REQUESTS: usize = 400;

/// Number of pages that start at scattered offsets.
const SCATTERED_PAGES: usize = 40;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [base, video_id] = arguments.as_slice() else {
        return Err("usage: readers BASE VIDEO_ID".into());
    };
    let host = base.trim_end_matches('/').trim_start_matches("http://");
    let chunks = format!("/videos/{video_id}/chunks?limit={PAGE}");
    let mut first = Reader::connect(host)?;
    let page: Value = serde_json::from_slice(first.read(&chunks)?)?;
    let total = page["total"].as_u64().ok_or("no total")? as usize;
    let at = |offset: usize| format!("{chunks}&offset={offset}");
    let pages: Vec<String> = (0..total).step_by(PAGE).map(at).collect();
    let scattered: Vec<String> =
        (0..SCATTERED_PAGES).map(|n| at(n * 37 % (total - PAGE).max(1))).collect();

    let cold = measure_sequential(host, &pages[1..], pages.len() - 1)?;
    println!("{PAGE} of {total} chunks: {:.1} ms median, uncached", cold.median);
    let bytes = first.read(&chunks)?.len();
    let file = nearest_file(&mut first, bytes)?;
    let kinds = [
        ("one page", vec![chunks.clone()]),
        ("pages in a row", pages),
        ("scattered pages", scattered),
        (file.as_str(), vec![file.clone()]),
        ("/openapi.json", vec!["/openapi.json".to_owned()]),
        ("/health", vec!["/health".to_owned()]),
    ];
    // Kinds alternate, so that other load on the machine affects all of them equally.
    let mut rates = vec![Vec::new(); kinds.len()];
    for _ in 0..ROUNDS {
        for ((_, paths), rates) in kinds.iter().zip(&mut rates) {
            rates.push(measure_concurrent(host, paths)?);
        }
    }
    let rates: Vec<f64> = rates.into_iter().map(median).collect();
    for ((name, paths), rate) in kinds.iter().zip(&rates) {
        let sequential = measure_sequential(host, paths, REQUESTS)?;
        println!(
            "{name:16} {:7.1} kB  {:6.2} ms (95 %: {:.2});  {READERS} readers: {rate:7.0}/s",
            sequential.bytes as f64 / 1e3,
            sequential.median,
            sequential.p95,
        );
    }
    for (name, rate) in kinds[..3].iter().zip(&rates).map(|((name, _), rate)| (name, rate)) {
        println!("{name}: {:.2} × {file} (bar: 0.8)", rate / rates[3]);
    }
    Ok(())
}

/// One keep-alive connection that sends requests in sequence.
struct Reader {
    host: String,
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Reader {
    fn connect(host: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        Ok(Self { host: host.to_owned(), stream, buffer: vec![0; 8 << 20] })
    }

    /// Requests a path and returns the body of the response.
    fn read(&mut self, path: &str) -> io::Result<&[u8]> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.stream.write_all(request.as_bytes())?;
        let mut received = 0;
        let head = loop {
            received += self.receive(received)?;
            let end = self.buffer[..received.min(4096)].windows(4).position(|w| w == b"\r\n\r\n");
            if let Some(end) = end {
                break end + 4;
            }
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.and_then(|length| length.trim().parse::<usize>().ok());
        let Some(length) = length.filter(|_| text.starts_with("http/1.1 200")) else {
            return Err(io::Error::other(format!("{path} answered {text}")));
        };
        while received < head + length {
            received += self.receive(received)?;
        }
        Ok(&self.buffer[head..head + length])
    }

    fn receive(&mut self, received: usize) -> io::Result<usize> {
        match self.stream.read(&mut self.buffer[received..])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// Response times and size measured by a single reader.
struct ReaderStats {
    /// Median response time, in milliseconds.
    median: f64,
    /// 95th percentile of the response times, in milliseconds.
    p95: f64,
    /// Size of the last response, in bytes.
    bytes: usize,
}

fn measure_sequential(host: &str, paths: &[String], requests: usize) -> Result<ReaderStats> {
    let mut reader = Reader::connect(host)?;
    let (mut times, mut bytes) = (Vec::new(), 0);
    for path in paths.iter().cycle().take(requests) {
        let started = Instant::now();
        bytes = reader.read(path)?.len();
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let p95 = times[times.len() * 95 / 100];
    Ok(ReaderStats { median: times[times.len() / 2], p95, bytes })
}

/// Measures the responses per second with concurrent readers.
fn measure_concurrent(host: &str, paths: &[String]) -> Result<f64> {
    let answers = AtomicUsize::new(0);
    let started = Instant::now();
    thread::scope(|scope| {
        let read = |first: usize| {
            let mut reader = Reader::connect(host)?;
            for path in paths.iter().cycle().skip(first % paths.len()) {
                if started.elapsed() > DURATION {
                    break;
                }
                reader.read(path)?;
                answers.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, io::Error>(())
        };
        let readers: Vec<_> = (0..READERS).map(|n| scope.spawn(move || read(n))).collect();
        readers.into_iter().try_for_each(|reader| reader.join().unwrap_or(Ok(())))
    })?;
    Ok(answers.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64())
}

/// Returns the path of the web UI file closest to `bytes` in size, among those that the page
/// references directly or indirectly.
fn nearest_file(reader: &mut Reader, bytes: usize) -> Result<String> {
    let (mut files, mut queue) = (BTreeMap::new(), vec!["/".to_owned()]);
    while let Some(path) = queue.pop() {
        let text = String::from_utf8_lossy(reader.read(&path)?).into_owned();
        let names = text.split(['"', '\'', '`']).filter_map(|name| name.strip_prefix("./"));
        let is_file = |name: &&str| name.ends_with(".js") || name.ends_with(".css");
        files.insert(path, text.len());
        for path in names.filter(is_file).map(|name| format!("/{name}")) {
            if !files.contains_key(&path) && !queue.contains(&path) {
                queue.push(path);
            }
        }
    }
    let nearest = files.into_iter().filter(|(path, _)| path != "/");
    let nearest = nearest.min_by_key(|(_, size)| size.abs_diff(bytes));
    Ok(nearest.ok_or("the page names no files: the web UI is not built in")?.0)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
