//! Times the crate bpe-openai: `bpe_openai_timer ENCODING FILE ROUNDS` prints one line of JSON with the CPU
//! time of loading and the first count (cold) and of the best of ROUNDS further counts (warm).

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

/// CPU time of this process, all threads, in milliseconds.
fn cpu_ms() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    assert_eq!(unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
    time.seconds as f64 * 1e3 + time.nanoseconds as f64 / 1e6
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&arguments[2]).expect("a text file");
    let rounds: usize = arguments[3].parse().expect("a number of rounds");

    let started = cpu_ms();
    let tokenizer = match arguments[1].as_str() {
        "cl100k_base" => bpe_openai::cl100k_base(),
        "o200k_base" => bpe_openai::o200k_base(),
        other => panic!("no encoding is called {other}"),
    };
    let loaded = cpu_ms();
    let tokens = tokenizer.count(&text);
    let cold = cpu_ms();

    let mut warm = f64::INFINITY;
    for _ in 0..rounds {
        let before = cpu_ms();
        assert_eq!(tokenizer.count(&text), tokens);
        warm = warm.min(cpu_ms() - before);
    }
    println!(
        "{{\"tokens\": {tokens}, \"load_ms\": {}, \"first_ms\": {}, \"cold_ms\": {}, \"warm_ms\": {warm}}}",
        loaded - started,
        cold - loaded,
        cold - started
    );
}
