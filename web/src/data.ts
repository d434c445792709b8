// The object that the page shows, as src/report/page.cpp and src/report/graph_view.cpp write it.

export interface Curve {
  name: string; // train_loss, val_loss, val_score
  x: number[];
  y: (number | null)[];
}

export interface Run {
  name: string;
  finished: boolean;
  summary: Record<string, any>;
  settings: Record<string, string | number>;
  metric: string;
  epochs: number;
  curves: Curve[];
}

export interface StudyPoint {
  panel: string;
  series: string;
  x: number;
  x_text: string;
  mean: number;
  std: number;
  ci95: number;
  runs: number;
  paper: number | null;
}

export interface Claim {
  text: string;
  panels: { panel: string; points: number; verdict: string; breaches: string[]; controls: string[] }[];
}

export interface Study {
  file: string;
  experiment: string;
  title: string;
  x_label: string;
  y_label: string;
  points: StudyPoint[];
  claims: Claim[];
  loss_curves: { panel: string; series: string; x_text: string; epochs: number[]; train: number[] }[];
}

export interface TableRow {
  label: string;
  model: string;
  metric: string;
  mean: number;
  std: number;
  runs: number;
  values: number[];
  paper: { mean: number; std?: number } | null;
  difference: number | null;
  p: number | null;
  remark: string;
}

export interface ResultTable {
  file: string;
  title: string;
  rows: TableRow[];
}

export interface Attack {
  method: string;
  epsilon: number;
  accuracy: number;
  std: number;
  certified: number | null;
  paper: { mean: number; std?: number } | null;
}

export interface Robustness {
  file: string;
  title: string;
  rows: { dataset: string; model: string; clean: number; attacks: Attack[] }[];
}

export interface Side {
  solver: string;
  epoch_ms: number;
  preprocess_s: number | null;
  peak_memory_bytes: number | null;
}

export interface Speed {
  file: string;
  dataset?: string;
  machine?: string;
  device?: string;
  threads?: number;
  commit?: string;
  ours: Side;
  published: Side;
  ratio: number | null;
  floor_ms: number | null;
  over_floor: number | null;
}

export interface Part {
  node: string | number;
  hops: number | null;
  contribution: number;
}

export interface Explanation {
  file: string;
  checkpoint?: string;
  dataset?: string;
  model?: string;
  node: string | number;
  class: string | number;
  predicted: boolean;
  score: number;
  constant: number;
  kind: string;
  exact: boolean;
  exponent: number;
  sum: number;
  remainder: number;
  reached: number;
  nodes: Part[];
  features: { feature: string | number; contribution: number }[];
  by_hop: { hops: number | null; nodes: number; contribution: number; raising: number; lowering: number }[];
  picture?: { nodes: Part[]; arcs: [number, number][] };
}

export interface Influence {
  file: string;
  run: string;
  model: string;
  mean_hops: number;
  by_hop: { hops: number; share: number; cumulative: number }[];
}

export interface GraphView {
  run: string;
  dataset: string;
  task: "classes" | "labels" | "regression";
  nodes: number;
  edges_in_all: number;
  whole: boolean;
  middle: number | null;
  names: string[];
  part: string[];
  label: string[];
  predicted: string[];
  classes: string[];
  likeliest: number[][]; // of each node: class, probability, class, probability, …
  edges: number[]; // source, target, source, target, …
  spectrum: { from: number; to: number; counts: number[]; min: number; max: number } | null;
}

export interface Report {
  format: number;
  made: { version: string; commit: string; command: string };
  runs: Run[];
  studies: Study[];
  tables: ResultTable[];
  robustness: Robustness[];
  speed: Speed[];
  explanations: Explanation[];
  influences: Influence[];
  graphs: GraphView[];
  files: { file: string; command: string | null; machine: string | null; version: string | null; commit: string | null }[];
  not_shown: string[];
}
