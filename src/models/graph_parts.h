// Which nodes belong to which of several disjoint graphs. A node has a number among all nodes, which is its
// row of X, and a number within its graph.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eignn {

class GraphParts {
 public:
  /// `nodes_of` has each graph's nodes. A single graph may have an empty list, which stands for all nodes.
  /// Nodes that belong to no graph are allowed as long as no index has them. ArgumentError when there is no
  /// graph, when a graph of several has no node, and for a node that is out of range or in two graphs.
  GraphParts(const std::vector<std::vector<int64_t>>& nodes_of, int64_t nodes, torch::Device device);

  size_t graphs() const { return nodes_of_.size(); }
  bool one_with_all_nodes() const { return graph_of_.empty(); }
  /// The number of nodes of graph g.
  int64_t nodes(size_t g) const;
  /// Graph g's rows of X.
  torch::Tensor rows_of(size_t g, const torch::Tensor& X) const;

  /// The graphs that an index refers to, with all of their rows, stacked one below the other.
  struct Stacked {
    std::vector<size_t> graphs;  // those with nodes in the index, ascending
    torch::Tensor index;         // rows in the stack, in the order of the index
  };
  /// ArgumentError for a node of no graph; the index is int64, one-dimensional and in range.
  Stacked stacked(const torch::Tensor& index) const;

  /// An index split by graph.
  struct Apart {
    struct Piece {
      size_t graph;
      torch::Tensor rows;  // within the graph
    };
    std::vector<Piece> pieces;  // of the graphs with nodes in the index, ascending
    torch::Tensor order;        // position of each entry of the index in the concatenated pieces
  };
  Apart apart(const torch::Tensor& index) const;

 private:
  /// The index on the host, checked.
  torch::Tensor on_host(const torch::Tensor& index) const;
  torch::Tensor on_device(const std::vector<int64_t>& numbers) const;

  int64_t nodes_;
  torch::Device device_;
  std::vector<torch::Tensor> nodes_of_;             // each graph's rows of X; undefined: all
  std::vector<int64_t> graph_of_, place_in_graph_;  // of each node; empty when one graph has all of them
};

}  // namespace eignn
