//! Whisper's encoder and decoder on ONNX Runtime, as Hugging Face's exporter lays them out: the
//! decoder either in one file with a cache branch, or in one for the prompt and one for what follows.

use std::path::{Path, PathBuf};

use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::{DynValue, Tensor, TensorRef, ValueType};
use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;

use super::mel::FRAMES;
use crate::onnx::{Inputs, Runtime, failed, unfit};

/// The part of `config.json` that matters here.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Shape {
    d_model: usize,
    decoder_layers: usize,
    decoder_attention_heads: usize,
    /// Mel bands, 80 or 128.
    pub(super) num_mel_bins: usize,
    /// Tokens of prompt and answer together.
    pub(super) max_target_positions: usize,
    /// Distinct tokens.
    pub(super) vocab_size: usize,
}

/// The sessions. One window at a time.
pub(super) struct Network {
    encoder: Session,
    decoder: Decoder,
    shape: Shape,
}

enum Decoder {
    Merged(Session),
    Separate { prompt: Session, step: Session },
}

/// What the decoder remembers between tokens, by the name it is given back under.
struct Memory {
    own: Vec<(String, DynValue)>,
    encoder: Vec<(String, DynValue)>,
    tokens: usize,
}

/// An answer in the making: the window it listens to and what was said so far.
pub(super) struct Listening<'a> {
    network: &'a mut Network,
    states: &'a DynValue,
    memory: Option<Memory>,
}

impl Network {
    /// Opens the files in `folder`. A merged decoder is preferred, quantised files are taken where
    /// there are no others. *Blocks*.
    pub(super) fn open(runtime: &Runtime, folder: &Path, threads: usize) -> Result<Self> {
        let shape: Shape = super::json(&folder.join("config.json"))?;
        let encoder_file = file(folder, "encoder_model")?;
        let encoder = runtime.session(&encoder_file, threads, Inputs::Alike)?;
        // What the decoder remembers grows with every token.
        let varied = |file: PathBuf| runtime.session(&file, threads, Inputs::Varied);
        let decoder = match file(folder, "decoder_model_merged") {
            Ok(merged) => Decoder::Merged(varied(merged)?),
            Err(_) => Decoder::Separate {
                prompt: varied(file(folder, "decoder_model")?)?,
                step: varied(file(folder, "decoder_with_past_model")?)?,
            },
        };
        for input in encoder.inputs() {
            if let ValueType::Tensor { shape: given, .. } = input.dtype()
                && given.len() == 3
                && given[1] > 0
                && given[1] != shape.num_mel_bins as i64
            {
                let why = format!(
                    "config.json says {} mel bands, it takes {}",
                    shape.num_mel_bins, given[1]
                );
                return Err(unfit(&encoder_file, why));
            }
        }
        Ok(Self { encoder, decoder, shape })
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The encoder's states for a spectrogram.
    pub(super) fn encode(&mut self, mel: &[f32]) -> Result<DynValue> {
        let shape = [1, self.shape.num_mel_bins, FRAMES];
        let mel = TensorRef::from_array_view((shape, mel)).map_err(failed)?;
        let name = self.encoder.inputs().first().map(|i| i.name().to_owned()).unwrap_or_default();
        let mut outputs = self.encoder.run(ort::inputs![name => mel]).map_err(failed)?;
        outputs.remove("last_hidden_state").ok_or_else(|| missing("last_hidden_state"))
    }

    /// Begins an answer about encoder states.
    pub(super) fn listen<'a>(&'a mut self, states: &'a DynValue) -> Listening<'a> {
        Listening { network: self, states, memory: None }
    }
}

impl Listening<'_> {
    /// Adds tokens to what was said and gives the scores of what may follow each of them: a row of
    /// the vocabulary's size per token. The first call takes the prompt, later ones one token.
    pub(super) fn say(&mut self, tokens: &[u32]) -> Result<Vec<Vec<f32>>> {
        let shape = self.network.shape.clone();
        let ids: Vec<i64> = tokens.iter().map(|t| i64::from(*t)).collect();
        let ids = Tensor::from_array(([1, ids.len()], ids)).map_err(failed)?;
        let session = match (&mut self.network.decoder, &self.memory) {
            (Decoder::Merged(session), _) => session,
            (Decoder::Separate { prompt, .. }, None) => prompt,
            (Decoder::Separate { step, .. }, Some(_)) => step,
        };
        let names: Vec<String> = session.inputs().iter().map(|i| i.name().to_owned()).collect();
        let before = self.memory.as_ref().map_or(0, |m| m.tokens);
        let mut inputs: Vec<(String, SessionInputValue<'_>)> = Vec::with_capacity(names.len());
        for name in &names {
            let value: SessionInputValue<'_> = match name.as_str() {
                "input_ids" => (&ids).into(),
                "encoder_hidden_states" => self.states.into(),
                "use_cache_branch" => {
                    Tensor::from_array(([1], vec![self.memory.is_some()])).map_err(failed)?.into()
                }
                "cache_position" => {
                    let places: Vec<i64> =
                        (before..before + tokens.len()).map(|p| p as i64).collect();
                    Tensor::from_array(([places.len()], places)).map_err(failed)?.into()
                }
                name => match &self.memory {
                    Some(memory) => {
                        let mut known = memory.own.iter().chain(&memory.encoder);
                        let (_, value) =
                            known.find(|(n, _)| n == name).ok_or_else(|| missing(name))?;
                        value.into()
                    }
                    None => {
                        let size = shape.d_model / shape.decoder_attention_heads.max(1);
                        // The branch without a cache reads none of it, but it cannot be left out.
                        let empty = [1, shape.decoder_attention_heads, 1, size];
                        let zeros = vec![0.0_f32; empty.iter().product()];
                        Tensor::from_array((empty, zeros)).map_err(failed)?.into()
                    }
                },
            };
            inputs.push((name.clone(), value));
        }
        let mut outputs = session.run(inputs).map_err(failed)?;
        let rows = rows(&outputs, tokens.len(), shape.vocab_size)?;
        let first = self.memory.is_none();
        let mut own = Vec::new();
        let mut encoder = Vec::new();
        for layer in 0..shape.decoder_layers {
            for (side, kept) in [("decoder", &mut own), ("encoder", &mut encoder)] {
                // A later answer has no encoder part, or an empty one: it does not change.
                if side == "encoder" && !first {
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

/// The file of a network's part: as exported, or quantised.
fn file(folder: &Path, part: &str) -> Result<PathBuf> {
    let names =
        ["", "_quantized", "_int8"].map(|suffix| folder.join(format!("{part}{suffix}.onnx")));
    names.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        PortError::new(ErrorKind::NotFound, format!("no {part}.onnx in {}", folder.display()))
    })
}
