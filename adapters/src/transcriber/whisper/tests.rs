//! Compares the tiny network from `scripts/fixtures/whisper.py` with results computed by numpy. The
//! tests need ONNX Runtime and are skipped with a message if `SHOTLOG_ONNXRUNTIME` is not set.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    seed: u32,
    seconds: f64,
    language: String,
    /// The expected tokens, including the end token if it was reached.
    tokens: Vec<u32>,
    sum_log_probability: f64,
    no_speech: f64,
    /// Some columns of the spectrogram.
    mel: Vec<Vec<f32>>,
    /// Some rows of the encoder's states.
    states: Vec<Vec<f32>>,
}

const COLUMNS: [usize; 7] = [0, 1, 37, 59, 60, 299, 2999];
const ROWS: [usize; 3] = [0, 30, 1499];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/whisper")
}

fn runtime() -> Option<Runtime> {
    let Some(library) = std::env::var_os("SHOTLOG_ONNXRUNTIME") else {
        eprintln!("skipped: SHOTLOG_ONNXRUNTIME is not set");
        return None;
    };
    Some(Runtime::load(Path::new(&library)).unwrap())
}

fn cases() -> Vec<Case> {
    json(&fixtures().join("reference.json")).unwrap()
}

/// Generates the same noise as the script.
fn noise(seed: u32, seconds: f64) -> Vec<f32> {
    let mut state = seed;
    let samples = (0..(seconds * 16_000.0) as i64).map(|i| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let swell = (i * i64::from(seed) % 16_000 - 8_000).abs() as f64;
        (f64::from(state >> 16) * swell / (65_536.0 * 8_000.0) - swell / 16_000.0) as f32
    });
    samples.collect()
}

/// Creates a folder with only these files, as other exporters write them.
fn folder_with(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::copy(fixtures().join(file), folder.path().join(file)).unwrap();
    }
    folder
}

const SMALL: [&str; 4] =
    ["encoder_model.onnx", "tokenizer.json", "config.json", "generation_config.json"];

#[test]
fn spectrogram_equals_the_reference() {
    let mel = MelSpectrogram::new(80);
    for case in cases() {
        let found = mel.compute(&noise(case.seed, case.seconds));
        assert_eq!(found.len(), 80 * mel::FRAMES);
        for (column, expected) in COLUMNS.iter().zip(&case.mel) {
            for (band, expected) in expected.iter().enumerate() {
                let found = found[band * mel::FRAMES + column];
                assert!((found - expected).abs() < 2e-5, "{column} {band}: {found} {expected}");
            }
        }
    }
}

#[test]
fn tokens_equal_the_reference_in_both_layouts() {
    let Some(runtime) = runtime() else { return };
    let vocabulary = Vocabulary::open(&fixtures(), 0).unwrap();
    let separate = ["decoder_model.onnx", "decoder_with_past_model.onnx"];
    let separate = folder_with(&[&SMALL[..], &separate].concat());
    for folder in [fixtures().as_path(), separate.path()] {
        let mut network = Network::open(&runtime, folder, 1).unwrap();
        let mel = MelSpectrogram::new(network.shape().num_mel_bins);
        for case in cases() {
            let encoded = network.encode(&mel.compute(&noise(case.seed, case.seconds))).unwrap();
            let numbers = encoded.numbers();
            for (row, expected) in ROWS.iter().zip(&case.states) {
                for (i, expected) in expected.iter().enumerate() {
                    let found = numbers[row * expected_width(&case) + i];
                    assert!((found - expected).abs() < 1e-3, "{row} {i}: {found} {expected}");
                }
            }
            let languages = decode::languages(&mut network, &encoded, &vocabulary).unwrap();
            assert_eq!(languages[0].code, case.language);
            let prompt = prompt(&vocabulary, Some(&languages[0]));
            let (mut tokens, sum, no_speech) =
                decode::tests::greedy(&mut network, &encoded, &vocabulary, &prompt);
            if case.tokens.last() == Some(&vocabulary.end) {
                tokens.push(vocabulary.end);
            }
            assert_eq!(tokens, case.tokens, "seed {}", case.seed);
            assert!((sum - case.sum_log_probability).abs() < 1e-2, "{sum}");
            assert!((f64::from(no_speech) - case.no_speech).abs() < 1e-4, "{no_speech}");
        }
    }
}

fn expected_width(case: &Case) -> usize {
    case.states[0].len()
}

#[test]
fn windows_are_contiguous_and_words_in_order() {
    let Some(runtime) = runtime() else { return };
    let options = WhisperOptions { folder: fixtures(), language: Some("de".into()), threads: 1 };
    let whisper = Whisper::open(&runtime, &options).unwrap();
    let window = noise(9, 30.0);
    let (answer, language, encoded) =
        whisper.model_state.recognise_window(&window, &[], None).unwrap();
    assert_eq!(language.as_ref().unwrap().code, "en", "the tiny network always detects English");
    let (segments, settled) = segments(&answer, &whisper.model_state.vocabulary, 30.0);
    assert!(settled > 0.0 && settled <= 30.0);
    let times = whisper.model_state.times(&segments, &encoded, language.as_ref(), 30.0).unwrap();
    let words = whisper.model_state.words(&segments, &times, "en");
    assert!(!words.is_empty());
    let mut last = 0.0;
    for (word, _) in &words {
        assert!(word.start >= last && word.end >= word.start && word.end <= 30.0, "{word:?}");
        assert!((0.0..=1.0).contains(&word.confidence));
        last = word.start;
    }
}

/// The original model's results for public-domain speech, computed by CTranslate2.
#[derive(Deserialize)]
struct Original {
    /// The tokens with timestamps.
    timed: Vec<u32>,
}

#[test]
fn converted_networks_equal_the_original() {
    let Some(runtime) = runtime() else { return };
    let originals = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/whisper_jfk.json");
    let originals: std::collections::BTreeMap<String, Original> = json(&originals).unwrap();
    let folder = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let (Some(models), Some(media)) = (folder("SHOTLOG_MODELS"), folder("SHOTLOG_MEDIA")) else {
        eprintln!("skipped: SHOTLOG_MODELS or SHOTLOG_MEDIA is not set");
        return;
    };
    let jfk = std::fs::read(media.join("jfk.wav")).unwrap();
    let samples = jfk[44..].chunks_exact(2);
    let samples: Vec<f32> =
        samples.map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0).collect();
    for (name, original) in originals {
        let folder = models.join("speech").join(&name);
        if !folder.is_dir() {
            eprintln!("skipped: no speech/{name} in SHOTLOG_MODELS");
            continue;
        }
        let options = WhisperOptions { folder, language: None, threads: 1 };
        let whisper = Whisper::open(&runtime, &options).unwrap();
        assert!(whisper.model.starts_with(&format!("{name}-")), "{}", whisper.model);
        let (answer, language, encoded) =
            whisper.model_state.recognise_window(&samples, &[], None).unwrap();
        // Quantization to eight bits may move a timestamp, but no word.
        let timestamps = whisper.model_state.vocabulary.timestamps;
        let text_tokens = |tokens: &[u32]| -> Vec<u32> {
            tokens.iter().map(|token| *token.min(&timestamps)).collect()
        };
        assert_eq!(text_tokens(&answer.tokens), text_tokens(&original.timed), "{name}");
        assert_eq!(language.is_some(), !name.ends_with(".en"), "{name}");
        assert!(language.as_ref().is_none_or(|l| l.code == "en" && l.probability > 0.5));
        let (segments, _) = segments(&answer, &whisper.model_state.vocabulary, 11.0);
        let times =
            whisper.model_state.times(&segments, &encoded, language.as_ref(), 11.0).unwrap();
        let words = whisper.model_state.words(&segments, &times, "en");
        let you = words.iter().find(|(word, _)| word.text.trim_end_matches(',') == "you");
        let (you, _) = you.unwrap();
        assert!((you.end - 7.9).abs() < 0.4, "{you:?}: by attention, not spread evenly");
    }
}

#[test]
fn english_network_is_detected_by_its_vocabulary() {
    let folder = folder_with(&["tokenizer.json"]);
    assert!(Vocabulary::open(folder.path(), 51_864).unwrap().languages.is_empty());
    assert!(!Vocabulary::open(folder.path(), 51_865).unwrap().languages.is_empty());
    assert!(!Vocabulary::open(&fixtures(), 0).unwrap().languages.is_empty(), "its file says so");
}

#[test]
fn identity_depends_on_files_and_language() {
    let folder = folder_with(&SMALL);
    let name = |language| identity::model_identity(folder.path(), language).unwrap();
    let first = name(None);
    assert_eq!(name(None), first);
    assert_eq!(name(Some("de")), format!("{first}-de"));
    std::fs::write(folder.path().join("generation_config.json"), "{}").unwrap();
    assert_ne!(name(None), first);
}

#[test]
fn segments_are_cut_at_timestamp_pairs() {
    let vocabulary = Vocabulary::open(&fixtures(), 0).unwrap();
    let at = |seconds: f64| vocabulary.timestamps + (seconds / tokens::PRECISION).round() as u32;
    let (a, b, c) = (65, 66, 67);
    type Segments = Vec<(f64, f64, usize)>;
    let cases: [(Vec<u32>, Segments, f64); 6] = [
        (vec![], vec![], 10.0),
        (vec![at(0.0), a, b, at(4.0)], vec![(0.0, 4.0, 2)], 10.0),
        // If no timestamp closes the last segment, it lasts to the end.
        (vec![at(1.0), a, b, c], vec![(1.0, 10.0, 3)], 10.0),
        // The part after the last pair of timestamps is processed again.
        (vec![at(0.0), a, at(2.0), at(2.0), b, c], vec![(0.0, 2.0, 1)], 2.0),
        (
            vec![at(0.0), a, at(2.0), at(3.0), b, c, at(5.0)],
            vec![(0.0, 2.0, 1), (3.0, 5.0, 2)],
            10.0,
        ),
        // No segment extends beyond the audio.
        (vec![at(0.0), a, at(29.0)], vec![(0.0, 10.0, 1)], 10.0),
    ];
    for (tokens, expected, settled) in cases {
        let answer = DecodedWindow {
            probabilities: vec![1.0; tokens.len()],
            tokens,
            ..DecodedWindow::default()
        };
        let (found, encoded) = segments(&answer, &vocabulary, 10.0);
        let found: Vec<_> = found.iter().map(|s| (s.start, s.end, s.tokens.len())).collect();
        assert_eq!(found, expected, "{:?}", answer.tokens);
        assert_eq!(encoded, settled, "{:?}", answer.tokens);
    }
}

#[test]
fn words_split_at_spaces_or_characters() {
    let vocabulary = Vocabulary::open(&fixtures(), 0).unwrap();
    let tokenizer = tokenizers::Tokenizer::from_file(fixtures().join("tokenizer.json")).unwrap();
    let ids = |text: &str| tokenizer.encode(text, false).unwrap().get_ids().to_vec();
    let split = |text: &str, language: &str| -> Vec<String> {
        let ids = ids(text);
        vocabulary.words(&ids, language).iter().map(|w| vocabulary.text(w)).collect()
    };
    assert_eq!(split(" the tin, an error", "en"), [" the", " tin,", " an", " error"]);
    assert_eq!(split("日本語", "ja"), ["日", "本", "語"]);
    assert_eq!(split("日本語", "en"), ["日本語"]);
    assert_eq!(split("", "en"), [""; 0]);
}

#[test]
fn mismatches_are_explained() {
    let Some(runtime) = runtime() else { return };
    let open = |folder: &Path, language: Option<&str>| {
        let language = language.map(str::to_owned);
        let options = WhisperOptions { folder: folder.to_owned(), language, threads: 1 };
        Whisper::open(&runtime, &options).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let error = open(&fixtures(), Some("xx"));
    assert!(error.contains("\"xx\"; it knows en, zh, de"), "{error}");
    let half = folder_with(&[&SMALL[..], &["decoder_model.onnx"]].concat());
    let error = open(half.path(), None);
    assert!(error.contains("no decoder_with_past_model.onnx"), "{error}");
    let error = open(folder_with(&["encoder_model.onnx"]).path(), None);
    assert!(error.contains("config.json"), "{error}");
    let other = folder_with(&[&SMALL[..], &["decoder_model_merged.onnx"]].concat());
    assert_eq!(open(other.path(), None), "");
    let config = std::fs::read_to_string(fixtures().join("config.json")).unwrap();
    for (key, of_another, what) in [
        ("\"num_mel_bins\": 80", "\"num_mel_bins\": 128", "128 mel bands, it has 80"),
        ("\"d_model\": 8", "\"d_model\": 16", "16 numbers of a moment, it has 8"),
        ("\"decoder_layers\": 2", "\"decoder_layers\": 3", "present.2"),
    ] {
        std::fs::write(other.path().join("config.json"), config.replace(key, of_another)).unwrap();
        let error = open(other.path(), None);
        assert!(error.contains(what), "{error}");
    }
}
