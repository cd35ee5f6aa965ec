//! Whisper's encoder and decoder on ONNX Runtime. In the layouts of Hugging Face's exporter, the
//! decoder is one file with a cache branch, or separate files for the prompt and the following
//! steps. In the layout of `scripts/models/convert_whisper.py`, the encoder also outputs the
//! cross-attention keys and values, and the single decoder also outputs its attention. All these
//! layouts are supported.

use std::path::{Path, PathBuf};

use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::{DynValue, Outlet, Tensor, TensorRef, ValueType};
use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;

use super::mel::FRAMES;
use crate::onnx::{Inputs, Runtime, failed, release_memory, unfit};

/// The relevant part of `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Shape {
    d_model: usize,
    decoder_layers: usize,
    decoder_attention_heads: usize,
    /// Number of mel bands: 80 or 128.
    pub(super) num_mel_bins: usize,
    /// Maximum number of tokens in the prompt and the answer together.
    pub(super) max_target_positions: usize,
    /// Size of the vocabulary.
    pub(super) vocab_size: usize,
}

impl Shape {
    /// Reads `config.json` from `folder`.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        super::json(&folder.join("config.json"))
    }

    /// Returns zeroed keys or values for `places` tokens, which may be 0.
    fn blank(&self, places: usize) -> Result<Tensor<f32>> {
        let heads = self.decoder_attention_heads;
        let shape = [1, heads, places, self.d_model / heads.max(1)];
        Tensor::from_array((shape, vec![0.0_f32; shape.iter().product()])).map_err(failed)
    }
}

/// The ONNX Runtime sessions of the encoder and the decoder. They process one window at a time.
pub(super) struct Network {
    encoder: Session,
    decoder: Decoder,
    shape: Shape,
}

enum Decoder {
    /// One file with a cache branch.
    Merged(Session),
    /// One file without a cache and one with a cache.
    Separate { prompt: Session, step: Session },
    /// One file. It starts with an empty cache and takes cross-attention from the encoder.
    Single(Session),
}

/// Name of the encoder output that holds the hidden states.
const STATES: &str = "last_hidden_state";

/// Number of encoder frames, of 20 ms each, per window.
const ENCODER_FRAMES: usize = FRAMES / 2;

/// Name prefix of the encoder outputs that are also decoder inputs.
const CROSS_ATTENTION_PREFIX: &str = "present.";

/// The encoder's output for a window.
pub(super) struct EncodedWindow {
    states: DynValue,
    /// Cross-attention keys and values, keyed by the name of the decoder input. Empty if the
    /// encoder does not output them.
    cross: Vec<(String, DynValue)>,
}

#[cfg(test)]
impl EncodedWindow {
    /// Returns the hidden states, row by row.
    pub(super) fn numbers(&self) -> &[f32] {
        self.states.try_extract_tensor::<f32>().expect("numbers").1
    }
}

/// The attention of the alignment heads for a sequence of tokens.
pub(super) struct Attention {
    pub(super) heads: usize,
    /// Length of the sequence.
    pub(super) tokens: usize,
    /// Number of 20 ms frames.
    pub(super) moments: usize,
    /// Heads × tokens × frames. For each head, the shares of a token add up to 1.
    pub(super) shares: Vec<f32>,
}

/// The decoder's key-value cache, keyed by input name.
struct Memory {
    own: Vec<(String, DynValue)>,
    encoder: Vec<(String, DynValue)>,
    tokens: usize,
}

/// A decoding session: the encoded window and the tokens so far.
pub(super) struct DecodingSession<'a> {
    network: &'a mut Network,
    encoded: &'a EncodedWindow,
    memory: Option<Memory>,
}

impl Network {
    /// Opens the files in `folder`. Prefers a merged decoder. Uses quantised files only if there
    /// are no others. *Blocks*.
    pub(super) fn open(runtime: &Runtime, folder: &Path, threads: usize) -> Result<Self> {
        let shape = Shape::open(folder)?;
        let encoder_file = file(folder, "encoder_model")?;
        let encoder = runtime.session(&encoder_file, threads, Inputs::FixedSize)?;
        // The cache grows with every token, so input sizes vary. One token is too little work for a
        // second thread.
        let varied = |file: PathBuf| runtime.session(&file, 1, Inputs::Varied);
        let merged = file(folder, "decoder_model_merged");
        let decoder =
            if encoder.outputs().iter().any(|o| o.name().starts_with(CROSS_ATTENTION_PREFIX)) {
                Decoder::Single(varied(file(folder, "decoder_with_past_model")?)?)
            } else if let Ok(merged) = merged {
                Decoder::Merged(varied(merged)?)
            } else {
                Decoder::Separate {
                    prompt: varied(file(folder, "decoder_model")?)?,
                    step: varied(file(folder, "decoder_with_past_model")?)?,
                }
            };
        let states = encoder.outputs().iter().find(|output| output.name() == STATES);
        let states = states.ok_or_else(|| unfit(&encoder_file, format!("it has no {STATES}")))?;
        let size = |outlet: &Outlet, axis: usize| match outlet.dtype() {
            ValueType::Tensor { shape, .. } => shape.get(axis).copied().filter(|size| *size > 0),
            _ => None,
        };
        for (what, said, found) in [
            ("mel bands", shape.num_mel_bins, encoder.inputs().first().and_then(|i| size(i, 1))),
            ("numbers of a moment", shape.d_model, size(states, 2)),
        ] {
            if let Some(found) = found.filter(|found| *found != said as i64) {
                let why = format!("config.json says {said} {what}, it has {found}");
                return Err(unfit(&encoder_file, why));
            }
        }
        Ok(Self { encoder, decoder, shape })
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Lists the existing files of the network in `folder`.
    pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
        let parts =
            ["encoder_model", "decoder_model_merged", "decoder_model", "decoder_with_past_model"];
        parts.iter().filter_map(|part| file(folder, part).ok()).collect()
    }

    /// Encodes a spectrogram.
    pub(super) fn encode(&mut self, mel: &[f32]) -> Result<EncodedWindow> {
        let shape = [1, self.shape.num_mel_bins, FRAMES];
        let mel = TensorRef::from_array_view((shape, mel)).map_err(failed)?;
        let name = self.encoder.inputs().first().map(|i| i.name().to_owned()).unwrap_or_default();
        // Runs are long and rare, and each run uses about a hundred megabytes. This memory should
        // be released between runs.
        let options = release_memory()?;
        let outputs = self.encoder.run_with_options(ort::inputs![name => mel], &options);
        let outputs = outputs.map_err(failed)?;
        let (mut states, mut cross) = (None, Vec::new());
        for (name, value) in outputs {
            if name == STATES {
                states = Some(value);
            } else if let Some(rest) = name.strip_prefix(CROSS_ATTENTION_PREFIX) {
                cross.push((format!("past_key_values.{rest}"), value));
            }
        }
        Ok(EncodedWindow { states: states.ok_or_else(|| missing(STATES))?, cross })
    }

    /// Returns an empty encoding. Its tensors have the right shapes, but the encoder is not run.
    pub(super) fn empty_encoding(&self) -> Result<EncodedWindow> {
        let (mut states, mut cross) = (None, Vec::new());
        for output in self.encoder.outputs() {
            let ValueType::Tensor { shape, .. } = output.dtype() else { continue };
            // `config.json` defines the dimensions that the output leaves open.
            let unsaid = [1, ENCODER_FRAMES, self.shape.d_model, 1];
            let sizes = shape.iter().zip(unsaid);
            let sizes = sizes.map(|(size, unsaid)| usize::try_from(*size).unwrap_or(unsaid));
            let sizes: Vec<usize> = sizes.collect();
            let numbers = vec![0.0_f32; sizes.iter().product()];
            let value = Tensor::from_array((sizes, numbers)).map_err(failed)?.into_dyn();
            match output.name().strip_prefix(CROSS_ATTENTION_PREFIX) {
                Some(rest) => cross.push((format!("past_key_values.{rest}"), value)),
                None if output.name() == STATES => states = Some(value),
                None => {}
            }
        }
        Ok(EncodedWindow { states: states.ok_or_else(|| missing(STATES))?, cross })
    }

    /// Starts decoding an encoded window.
    pub(super) fn start_decoding<'a>(
        &'a mut self,
        encoded: &'a EncodedWindow,
    ) -> DecodingSession<'a> {
        DecodingSession { network: self, encoded, memory: None }
    }

    /// Returns the attention while `tokens` are decoded. Returns `None` if the network does not
    /// output it.
    pub(super) fn alignment(
        &mut self,
        encoded: &EncodedWindow,
        tokens: &[u32],
    ) -> Result<Option<Attention>> {
        let Decoder::Single(session) = &self.decoder else { return Ok(None) };
        if !session.outputs().iter().any(|o| o.name() == ALIGNMENT) {
            return Ok(None);
        }
        let mut session = self.start_decoding(encoded);
        let mut outputs = session.run(tokens, 1)?;
        let value = outputs.remove(ALIGNMENT).ok_or_else(|| missing(ALIGNMENT))?;
        let (shape, shares) = value.try_extract_tensor::<f32>().map_err(failed)?;
        match shape[..] {
            [1, heads, said, moments] if said == tokens.len() as i64 => Ok(Some(Attention {
                heads: heads as usize,
                tokens: tokens.len(),
                moments: moments as usize,
                shares: shares.to_vec(),
            })),
            _ => Err(PortError::new(
                ErrorKind::Invalid,
                format!("the decoder attends in the shape {shape:?} to {} tokens", tokens.len()),
            )),
        }
    }
}

/// Name of the decoder output that holds the attention.
const ALIGNMENT: &str = "alignment_attentions";

impl DecodingSession<'_> {
    /// Appends tokens. Returns, for each token, the scores of the next token as one row of
    /// vocabulary size. The first call takes the prompt, and each later call takes one token.
    pub(super) fn step(&mut self, tokens: &[u32]) -> Result<Vec<Vec<f32>>> {
        let vocabulary = self.network.shape.vocab_size;
        let layers = self.network.shape.decoder_layers;
        let before = self.memory.as_ref().map_or(0, |m| m.tokens);
        // If the encoder does not output the cross-attention, the decoder's first run does. The
        // cross-attention does not change, so later runs do not output it or output it empty.
        let cross_from_decoder = self.memory.is_none() && self.encoded.cross.is_empty();
        let mut outputs = self.run(tokens, tokens.len())?;
        let rows = rows(&outputs, tokens.len(), vocabulary)?;
        let mut own = Vec::new();
        let mut encoder = Vec::new();
        for layer in 0..layers {
            for (side, kept) in [("decoder", &mut own), ("encoder", &mut encoder)] {
                if side == "encoder" && !cross_from_decoder {
                    continue;
                }
                for part in ["key", "value"] {
                    let present = format!("present.{layer}.{side}.{part}");
                    let value = outputs.remove(&present).ok_or_else(|| missing(&present))?;
                    kept.push((format!("past_key_values.{layer}.{side}.{part}"), value));
                }
            }
        }
        drop(outputs);
        let tokens = before + tokens.len();
        self.memory = Some(match self.memory.take() {
            Some(memory) => Memory { own, tokens, ..memory },
            None => Memory { own, encoder, tokens },
        });
        Ok(rows)
    }

    /// Runs the decoder once. The outputs contain scores for the last `scored` tokens or for all
    /// tokens.
    fn run(&mut self, tokens: &[u32], scored: usize) -> Result<SessionOutputs<'_>> {
        let shape = &self.network.shape;
        let ids: Vec<i64> = tokens.iter().map(|t| i64::from(*t)).collect();
        let ids = Tensor::from_array(([1, ids.len()], ids)).map_err(failed)?;
        // The branch without a cache ignores the cache input, but the input is required.
        let unread = usize::from(!matches!(self.network.decoder, Decoder::Single(_)));
        let session = match (&mut self.network.decoder, &self.memory) {
            (Decoder::Merged(session) | Decoder::Single(session), _) => session,
            (Decoder::Separate { prompt, .. }, None) => prompt,
            (Decoder::Separate { step, .. }, Some(_)) => step,
        };
        let names: Vec<String> = session.inputs().iter().map(|i| i.name().to_owned()).collect();
        let before = self.memory.as_ref().map_or(0, |m| m.tokens);
        let mut inputs: Vec<(String, SessionInputValue<'_>)> = Vec::with_capacity(names.len());
        let places = |range: std::ops::Range<usize>| {
            let places: Vec<i64> = range.map(|p| p as i64).collect();
            Tensor::from_array(([places.len()], places)).map_err(failed)
        };
        for name in names {
            let value: SessionInputValue<'_> = match name.as_str() {
                "input_ids" => (&ids).into(),
                "encoder_hidden_states" => (&self.encoded.states).into(),
                "use_cache_branch" => {
                    Tensor::from_array(([1], vec![self.memory.is_some()])).map_err(failed)?.into()
                }
                "cache_position" => places(before..before + tokens.len())?.into(),
                "scored" => places(tokens.len() - scored..tokens.len())?.into(),
                name => {
                    let known = self.memory.iter().flat_map(|m| m.own.iter().chain(&m.encoder));
                    let mut known = known.chain(&self.encoded.cross);
                    match known.find(|(n, _)| n == name) {
                        Some((_, value)) => value.into(),
                        None if self.memory.is_none() => shape.blank(unread)?.into(),
                        None => return Err(missing(name)),
                    }
                }
            };
            inputs.push((name, value));
        }
        session.run(inputs).map_err(failed)
    }
}

fn rows(outputs: &SessionOutputs<'_>, count: usize, vocabulary: usize) -> Result<Vec<Vec<f32>>> {
    let logits = outputs.get("logits").ok_or_else(|| missing("logits"))?;
    let (shape, numbers) = logits.try_extract_tensor::<f32>().map_err(failed)?;
    if shape[..] != [1, count as i64, vocabulary as i64] {
        return Err(PortError::new(
            ErrorKind::Invalid,
            format!(
                "the decoder answers in the shape {shape:?}; config.json asks for [1, {count}, \
                 {vocabulary}]"
            ),
        ));
    }
    if numbers.iter().any(|n| n.is_nan()) {
        let message = "the speech model yields numbers that are not finite; its file is damaged";
        return Err(PortError::new(ErrorKind::Corrupt, message));
    }
    Ok(numbers.chunks_exact(vocabulary).map(<[f32]>::to_vec).collect())
}

fn missing(name: &str) -> PortError {
    PortError::new(
        ErrorKind::Invalid,
        format!(
            "the speech model has no {name}; an export for text generation with a cache has it, as \
             `optimum-cli export onnx` writes"
        ),
    )
}

/// Finds the file for one part of the network. Prefers full-precision files to quantised files.
fn file(folder: &Path, part: &str) -> Result<PathBuf> {
    let names =
        ["", "_quantized", "_int8"].map(|suffix| folder.join(format!("{part}{suffix}.onnx")));
    names.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        PortError::new(ErrorKind::NotFound, format!("no {part}.onnx in {}", folder.display()))
    })
}
