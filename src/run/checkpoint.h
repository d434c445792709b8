// Saving and restoring of weights and options, in one safetensors file.
#pragma once

#include <map>
#include <string>

#include "data/safetensors.h"
#include "eignn/checkpoint.h"
#include "eignn/train.h"

namespace eignn {

/// The parameters and buffers of a model by name.
std::map<std::string, torch::Tensor> state_of(const Model& model);

/// Copies by name; DataError when a name is missing or a shape differs (`where` names the file).
void load_state(Model& model, const std::map<std::string, torch::Tensor>& state, const std::string& where);

/// The whole number that a file's metadata has under `key`. DataError for anything else.
int64_t saved_number(const SafeTensors& content, const std::string& key, const std::string& path);

/// Sets the fields that a file's metadata has under "config.NAME". ArgumentError for a name that no model has
/// and for a text that does not fit.
///
/// `complete`: the file has every field of its model and no other, and ArgumentError says which is missing;
/// older files may have fields of other models, or fewer.
void assign_saved(TrainConfig& config, const std::map<std::string, std::string>& metadata, bool complete);

/// The format of resume.safetensors, which holds the state of an unfinished run and is a checkpoint too: its
/// best weights so far have names that begin with "best.".
constexpr const char* resume_format = "eignn-resume-6";
/// The format before, whose configuration may lack settings.
constexpr const char* last_resume_format = "eignn-resume-5";

/// Enters the model's widths, settings and record into the metadata and tensors of a file.
void describe_model(const TrainedModel& model, SafeTensors& content);

/// The trained model's own view of a data set: features matched and treated as in training, labels by the
/// numbers of its own classes. A label that is none of them counts as not known. Splits stay as they are.
/// ArgumentError when the number of features differs, DataError for a feature that is missing or not known.
Dataset as_trained(const TrainedModel& trained, const Dataset& data);

/// Gives `own`, a copy of `data` after prepared(), labels by the numbers of the model's own classes.
void take_own_classes(const TrainedModel& trained, const Dataset& data, Dataset& own);

/// ArgumentError unless `nodes` are int64 numbers of nodes whose labels the data set knows.
void require_labelled(const Dataset& data, const torch::Tensor& nodes);
/// ArgumentError where the label of one of these nodes is none of the model's; `own` is as_trained(data).
void require_own_classes(const TrainedModel& trained, const Dataset& data, const Dataset& own,
                         const torch::Tensor& nodes);

/// What these scores of the model mean.
Predictions predictions_of(const TrainedModel& trained, const torch::Tensor& scores);

/// TrainedModel::recognise() of the data whose view `own` is.
Recognition recognise_prepared(const TrainedModel& trained, const Dataset& own);

/// The trained model on its own view of a data set, with `config` in the place of its own: a caller may
/// compute elsewhere or by another solver. DataError when the widths do not fit.
std::shared_ptr<Model> restore_model(const TrainedModel& trained, const Dataset& dataset,
                                     const TrainConfig& config, SpectrumStore* store,
                                     const std::string& where);

}  // namespace eignn
