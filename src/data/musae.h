#pragma once

#include <string>

#include "data/file_dataset.h"

namespace eignn {

/// Whether a folder has exactly one file *_edges.csv, and beside it the *_target.csv of the same name.
bool is_musae(const std::string& folder);

/// Reads a set in MUSAE's layout (Twitch, Facebook, GitHub, LastFM, Deezer) from a folder (musae.cpp).
FileDataset read_musae(const std::string& folder);

}  // namespace eignn
