#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <regex>

#include "data/readers.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using Ids = std::vector<int64_t>;
using Texts = std::vector<std::string>;

class Tables : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) { folder_.write("set/" + file, text); }
  void SetUp() override {
    std::filesystem::create_directory(folder_.path("set"));
    write("nodes.csv", "id,label,age,city\nann,cat,31,Oslo\nbob,dog,,Rome\ncid,,1.5,NA\n");
    write("edges.csv", "source,target,weight\nann,bob,2.5\nbob,dan,1e-3\ndan,ann,0\n");
  }
  RawDataset read(const TableOptions& options = {}) { return read_dataset_file(path(), options); }
  std::string path(const std::string& file = "") const {
    return folder_.path("set") + (file.empty() ? "" : "/" + file);
  }
  std::string refusal(const TableOptions& options = {}) {
    return message_of<Error>([&] { read(options); });
  }
  double feature(const RawDataset& set, int64_t node, int64_t column) const {
    return set.features.as<double>()[static_cast<size_t>(node * set.features.shape[1] + column)];
  }
  std::string note(const RawDataset& set, const std::string& column) const {
    for (const ColumnReport& row : set.report)
      if (row.column == column) return row.note;
    return "no such column";
  }
  ColumnRole role(const RawDataset& set, const std::string& column) const {
    for (const ColumnReport& row : set.report)
      if (row.column == column) return row.role;
    ADD_FAILURE() << column;
    return ColumnRole::ignored;
  }
  TemporaryFolder folder_;
};

TEST_F(Tables, KeepsNamesWeightsAndGaps) {
  const RawDataset set = read();
  EXPECT_EQ(set.name, "set");
  EXPECT_EQ(set.format, "tables");
  EXPECT_EQ(set.node_names, (Texts{"ann", "bob", "cid", "dan"})) << "dan occurs in the edges alone";
  EXPECT_EQ(set.arcs.source, (Ids{0, 1}));
  EXPECT_EQ(set.arcs.target, (Ids{1, 3}));
  EXPECT_EQ(set.arcs.weight, (std::vector<double>{2.5, 1e-3})) << "an edge of weight 0 is none";
  EXPECT_EQ(set.labels, (Ids{0, 1, -1, -1}));
  EXPECT_EQ(set.class_names, (Texts{"cat", "dog"}));
  ASSERT_EQ(set.columns.size(), 2U);
  EXPECT_EQ(set.columns[0].name, "age");
  EXPECT_EQ(set.columns[1].words, (Texts{"Oslo", "Rome"}));
  EXPECT_EQ(feature(set, 0, 0), 31);
  EXPECT_TRUE(std::isnan(feature(set, 1, 0)));
  EXPECT_EQ(feature(set, 1, 1), 1);
  EXPECT_TRUE(std::isnan(feature(set, 2, 1)));
  EXPECT_TRUE(std::isnan(feature(set, 3, 0)) && std::isnan(feature(set, 3, 1)));
}

TEST_F(Tables, ReportsWhatWasRead) {
  const RawDataset set = read();
  ASSERT_EQ(set.report.size(), 7U);
  EXPECT_EQ(set.report[0].file, "nodes.csv");
  EXPECT_EQ(set.report[0].role, ColumnRole::id);
  EXPECT_EQ(set.report[1].note, "2 classes: cat, dog");
  EXPECT_EQ(set.report[1].gaps, 2);
  EXPECT_EQ(set.report[2].gaps, 2);
  EXPECT_EQ(set.report[3].note, "2 words: Oslo, Rome");
  EXPECT_CONTAINS(set.report[4].note, "3 rows; 1 node in edges alone");
  EXPECT_EQ(set.report[6].role, ColumnRole::weight);
  EXPECT_CONTAINS(set.report[6].note, "0.001 to 2.5; 1 edge of weight 0 left out");
}

TEST_F(Tables, SeparatorsMayBeTabsAndSemicolonsWithDecimalCommas) {
  const auto expected = read().features.bytes;
  write("nodes.csv", "id;label;age;city\nann;cat;31;Oslo\nbob;dog;;Rome\ncid;;1,5;NA\n");
  write("edges.csv", "ann;bob;2,5\nbob;dan;1e-3\n");
  const RawDataset set = read();
  EXPECT_EQ(set.features.bytes, expected);
  EXPECT_EQ(set.arcs.weight, (std::vector<double>{2.5, 1e-3}));
  EXPECT_EQ(note(set, "age"), "decimal commas");
  std::filesystem::remove(path("nodes.csv"));
  std::filesystem::remove(path("edges.csv"));
  write("nodes.tsv", "id\tlabel\tage\tcity\nann\tcat\t31\tOslo\nbob\tdog\t\tRome\ncid\t\t1.5\tNA\n");
  write("edges.txt", "# friends\nann  bob 2.5 \n bob dan\t1e-3\n");
  EXPECT_EQ(read().features.bytes, expected);
  EXPECT_EQ(read().arcs.weight, (std::vector<double>{2.5, 1e-3}));
}

TEST_F(Tables, EdgesMayBeNamedInManyWaysOrNotAtAll) {
  for (const char* edges : {"from,to,weight\nann,bob,2\n", "weight,SRC,DST\n2,ann,bob\n", "ann,bob,2\n",
                            "person,friend,strength\nann,bob,2\n", "u,v,w\nann,bob,2\n"}) {
    write("edges.csv", edges);
    const RawDataset set = read();
    EXPECT_EQ(set.arcs.source, Ids{0}) << edges;
    EXPECT_EQ(set.arcs.target, Ids{1}) << edges;
    EXPECT_EQ(set.arcs.weight, std::vector<double>{2}) << edges;
  }
  write("edges.csv", "a,b\nann,bob\n");
  EXPECT_TRUE(read().arcs.weight.empty());
  write("edges.csv", "source,target\n");
  EXPECT_TRUE(read().arcs.source.empty());
}

TEST_F(Tables, OneOfAThingIsNotCalledSeveral) {
  write("edges.csv", "source,target,weight\nann,bob,0\n");
  EXPECT_EQ(note(read(), "weight"), "1 edge of weight 0 left out");
  EXPECT_CONTAINS(note(read(), "source"), "1 row");
  EXPECT_EQ(note(read(), "source").find("1 rows"), std::string::npos);
}

TEST_F(Tables, WeightsMayBeIgnored) {
  TableOptions options;
  options.edge_weights = EdgeWeights::ignore;
  write("edges.csv", "source,target,weight\nann,bob,-1\nbob,dan,0\n");
  EXPECT_TRUE(read(options).arcs.weight.empty());
  EXPECT_EQ(read(options).arcs.source.size(), 2U) << "without weights, an edge of weight 0 is one";
}

TEST_F(Tables, ColumnsBesideTheWeightAreIgnoredOnRequest) {
  write("edges.csv", "source,target,weight,time\nann,bob,1,2021-01-01\n");
  TableOptions options;
  options.ignore_columns = {"time", "city"};
  const RawDataset set = read(options);
  EXPECT_EQ(set.arcs.weight.size(), 1U);
  EXPECT_EQ(set.columns.size(), 1U);
  EXPECT_EQ(role(set, "time"), ColumnRole::ignored);
  EXPECT_EQ(role(set, "city"), ColumnRole::ignored);
  options.ignore_columns.emplace_back("tyme");
  EXPECT_EQ(note(read(options), "tyme"), "in none of the files");
}

TEST_F(Tables, SeveralFilesAreJoinedById) {
  write("nodes.csv", "id,label\nann,cat\nbob,dog\n");
  write("nodes-ages.csv", "name,age\nbob,7\neve,9\n");
  write("nodes_2.tsv", "node_id\tsplit\nann\ttrain\nbob\tval\neve\ttest\n");
  write("edges.csv", "ann,bob\n");
  const RawDataset set = read();
  EXPECT_EQ(set.node_names, (Texts{"ann", "bob", "eve"}));
  EXPECT_TRUE(std::isnan(feature(set, 0, 0)));
  EXPECT_EQ(feature(set, 1, 0), 7);
  EXPECT_EQ(feature(set, 2, 0), 9);
  EXPECT_EQ(set.labels, (Ids{0, 1, -1}));
  ASSERT_EQ(set.splits.size(), 1U);
  EXPECT_EQ(set.splits[0].test, Ids{2});
}

TEST_F(Tables, SplitsMayBeSeveral) {
  write("nodes.csv",
        "id,label,split_10,split_2\n0,0,train,test\n1,1,val,train\n2,0,test,valid\n3,1,,Train\n");
  write("edges.csv", "0,1\n");
  const RawDataset set = read();
  EXPECT_TRUE(set.node_names.empty()) << "0, 1, 2, 3 are called by their numbers";
  ASSERT_EQ(set.splits.size(), 2U);
  EXPECT_EQ(set.splits[0].train, (Ids{1, 3}));
  EXPECT_EQ(set.splits[1].train, Ids{0});
  EXPECT_EQ(set.columns.size(), 0U);
  EXPECT_EQ(set.features.shape, (Ids{4, 0}));
}

class TableLabels : public Tables {
 protected:
  RawDataset with(const Texts& labels, Task task = Task::automatic) {
    std::string nodes = "id,label\n";
    for (size_t k = 0; k < labels.size(); ++k) nodes += "n" + std::to_string(k) + "," + labels[k] + "\n";
    write("nodes.csv", nodes);
    write("edges.csv", "n0,n1\n");
    TableOptions options;
    options.task = task;
    return read(options);
  }
};

TEST_F(TableLabels, NumbersFromZeroKeepTheirNumbers) {
  const RawDataset set = with({"2", "0", "", "1", "0"});
  EXPECT_EQ(set.labels, (Ids{2, 0, -1, 1, 0}));
  EXPECT_TRUE(set.class_names.empty());
  EXPECT_EQ(with({"1.0", "0.0", "1"}).labels, (Ids{1, 0, 1})) << "as pandas writes a column with gaps";
  EXPECT_TRUE(with({"1.0", "0.0"}).class_names.empty());
}

TEST_F(TableLabels, OtherClassesAreSortedAndNamed) {
  const RawDataset numbers = with({"10", "2", "-1", "2"});
  EXPECT_EQ(numbers.labels, (Ids{2, 1, 0, 1}));
  EXPECT_EQ(numbers.class_names, (Texts{"-1", "2", "10"}));
  EXPECT_EQ(with({"True", "False", "True"}).class_names, (Texts{"False", "True"}));
  EXPECT_EQ(with({"b", "3", "a", "20"}).class_names, (Texts{"3", "20", "a", "b"}));
  EXPECT_EQ(with({"01", "1", "02"}).class_names, (Texts{"01", "1", "02"})) << "codes are no numbers";
  EXPECT_EQ(with({"\"a, b\"", "c"}).class_names, (Texts{"a, b", "c"}));
}

TEST_F(TableLabels, DecimalsAndManyNumbersAreNumbersToPredict) {
  const RawDataset set = with({"0.5", "", "3"});
  EXPECT_TRUE(set.is_regression());
  EXPECT_EQ(set.classes, 1);
  EXPECT_EQ(set.class_names, Texts{"label"});
  EXPECT_EQ(set.targets[0], 0.5);
  EXPECT_TRUE(std::isnan(set.targets[1]));
  EXPECT_CONTAINS(note(set, "label"), "a number to predict, 0.5 to 3");
  Texts many;
  for (int k = 0; k < 51; ++k) many.push_back(std::to_string(k));
  EXPECT_TRUE(with(many).is_regression());
  EXPECT_EQ(with(many, Task::classes).classes, 51);
  many.pop_back();
  EXPECT_EQ(with(many).classes, 50);
  EXPECT_TRUE(with(many, Task::regression).is_regression());
  EXPECT_EQ(with({"0.5", "1.5"}, Task::classes).class_names, (Texts{"0.5", "1.5"}));
}

TEST_F(TableLabels, WithoutLabelsTheDataAreThereToBePredicted) {
  const RawDataset set = with({"", "NA"});
  EXPECT_FALSE(set.is_labelled());
  EXPECT_CONTAINS(set.why_unlabelled, "no node has a label in the column 'label'");
  write("nodes.csv", "id,age,split\nn0,1,\nn1,2,\n");
  EXPECT_CONTAINS(read().why_unlabelled, "no column of the nodes is called label, class, target or y");
  TableOptions options;
  options.label = {"kind"};
  EXPECT_EQ(read(options).why_unlabelled, "the nodes have no column 'kind'");
}

TEST_F(TableLabels, SeveralColumnsAreASetOfLabelsOrSeveralNumbers) {
  write("nodes.csv", "id,a,b,x\nn0,1,0,5\nn1,,,6\nn2,0,1.0,7\n");
  write("edges.csv", "n0,n1\n");
  TableOptions options;
  options.label = {"a", "b"};
  const RawDataset set = read(options);
  EXPECT_EQ(set.label_sets, (std::vector<uint8_t>{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(set.known, (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(set.class_names, (Texts{"a", "b"}));
  options.task = Task::regression;
  EXPECT_TRUE(read(options).is_regression());
  EXPECT_EQ(read(options).classes, 2);
  options.task = Task::classes;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { read(options); }), "(task)");
  options.task = Task::automatic;
  write("nodes.csv", "id,a,b\nn0,True,no\nn1,,\nn2,FALSE,yes\n");
  EXPECT_EQ(read(options).label_sets, (std::vector<uint8_t>{1, 0, 0, 0, 0, 1})) << "words for 0 and 1";
  EXPECT_EQ(read(options).known, (std::vector<uint8_t>{1, 0, 1}));
  write("nodes.csv", "id,a,b\nn0,1,0\nn1,2.5,\nn2,0,1\n");
  EXPECT_CONTAINS(refusal(options), "the label is empty, and other labels of the node are not");
}

TEST_F(Tables, FreeTextIsNotUsed) {
  std::string nodes = "id,label,remark,age\n";
  for (int k = 0; k < 300; ++k)
    nodes += std::to_string(k) + "," + std::to_string(k % 2) + ",remark " + std::to_string(k) + "," +
             std::to_string(k) + "\n";
  write("nodes.csv", nodes);
  write("edges.csv", "0,1\n");
  const RawDataset set = read();
  EXPECT_EQ(set.columns.size(), 1U);
  EXPECT_EQ(role(set, "remark"), ColumnRole::text);
  EXPECT_CONTAINS(note(set, "remark"), "300 different texts: not used");
}

// What a column was in the training it is in every table that the model reads.
TEST_F(Tables, ForAModelTheColumnsAreThoseOfItsTraining) {
  write("nodes.csv", "id,remark,age,job\nann,likes tea,31,cook\nbob,,-,\n");
  write("edges.csv", "ann,bob\n");
  TableOptions options;
  options.trained_columns = {
      {"remark", ColumnRole::text}, {"age", ColumnRole::numbers}, {"job", ColumnRole::category}};
  EXPECT_EQ(role(read(), "remark"), ColumnRole::category);
  EXPECT_EQ(role(read(options), "remark"), ColumnRole::text);
  EXPECT_EQ(note(read(options), "remark"), "not used, as in training");
  EXPECT_EQ(read(options).columns.size(), 2U);
  std::string many = "id,remark,age,job\n";
  for (int k = 0; k < 300; ++k) many += "n" + std::to_string(k) + ",tea,1,job " + std::to_string(k) + "\n";
  write("nodes.csv", many);
  write("edges.csv", "n0,n1\n");
  EXPECT_EQ(role(read(), "job"), ColumnRole::text);
  EXPECT_EQ(role(read(options), "job"), ColumnRole::category);
  EXPECT_EQ(read(options).columns[1].words.size(), 300U);
  write("nodes.csv", "id,remark,age,job\nann,,old,cook\n");
  write("edges.csv", "source,target\n");
  EXPECT_CONTAINS(refusal(options), "'old' is not a number, and the model was trained on numbers (" + path() +
                                        "/nodes.csv, line 2, column 'age'); leave the field empty");
  write("nodes.csv", "id,remark,age,job\nann,,-,3\n");
  EXPECT_TRUE(std::isnan(feature(read(options), 0, 0))) << "a dash is a gap among numbers";
  EXPECT_EQ(read(options).columns[1].words, (Texts{"3"}));
}

TEST_F(Tables, ForAModelASplitNeedsNotBeWhole) {
  write("nodes.csv", "id,label,age,split\nann,x,31,train\nbob,y,2,test\n");
  write("edges.csv", "ann,bob\n");
  EXPECT_CONTAINS(refusal(), "no node is in val (" + path() + "/nodes.csv, line 1, column 'split')");
  TableOptions options;
  options.trained_columns = {{"age", ColumnRole::numbers}};
  EXPECT_TRUE(read(options).splits.empty());
  EXPECT_CONTAINS(note(read(options), "split"), "1 train, 0 val, 1 test: not used");
}

TEST_F(Tables, ADashAmongNumbersIsAGapAndAmongWordsAWord) {
  write("nodes.csv", "id,age,strand,level\nann,31,+,1\nbob,-,-,?\ncid,--,+,None\n");
  write("edges.csv", "ann,bob\n");
  const RawDataset set = read();
  EXPECT_EQ(role(set, "age"), ColumnRole::numbers);
  EXPECT_TRUE(std::isnan(feature(set, 1, 0)) && std::isnan(feature(set, 2, 0)));
  EXPECT_EQ(role(set, "strand"), ColumnRole::category);
  EXPECT_EQ(set.columns[1].words, (Texts{"+", "-"}));
  EXPECT_EQ(role(set, "level"), ColumnRole::numbers);
  for (const ColumnReport& row : set.report) {
    if (row.column != "age" && row.column != "level") continue;
    EXPECT_EQ(row.gaps, 2) << row.column;
  }
}

TEST_F(Tables, AFewWordsAmongManyNumbersAreRefusedAndAmongCodesTheyAreOneMore) {
  std::string ages = "id,label,age\n", floors = "id,label,age\n";
  for (int k = 0; k < 40; ++k) {
    const std::string start = "n" + std::to_string(k) + ",x,";
    ages += start + (k % 4 == 3 ? "unknown" : std::to_string(20 + k)) + "\n";
    floors += start + (k % 4 == 3 ? "attic" : std::to_string(k % 4)) + "\n";
  }
  write("edges.csv", "n0,n1\n");
  write("nodes.csv", ages);
  EXPECT_CONTAINS(refusal(), "'unknown' is not a number, and most other fields of the column are (" + path() +
                                 "/nodes.csv, line 5, column 'age'); leave the field empty");
  write("nodes.csv", floors);
  EXPECT_EQ(role(read(), "age"), ColumnRole::category);
}

TEST_F(Tables, BesideTheOlderLayoutTheyAreRefusedAndWithoutNodesItIsReadAsBefore) {
  write("features.csv", "id,a\n0,1\n");
  EXPECT_CONTAINS(refusal(), "features.csv beside a file of nodes (" + path() + "); give it a column id");
  std::filesystem::remove(path("nodes.csv"));
  write("labels.csv", "id,class\n0,0\n");
  write("features.csv", "id,a\nann,1\n");
  EXPECT_CONTAINS(refusal(), "'ann' is not a whole number");
  EXPECT_CONTAINS(refusal(), "for nodes with names write nodes.csv");
  write("features.csv", "id,a\n0,1\n");
  write("labels.csv", "id,class\n0,0\n");
  write("edges.csv", "0,0\n");
  EXPECT_EQ(read().format, "own graph");
  TableOptions options;
  options.label = {"class"};
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { read(options); }), "this is for tables");
}

// A faulty pair of tables, and the parts of the one line that must say so: what, where, what to do.
struct Fault {
  const char* nodes;
  const char* edges;
  Texts says;
  TableOptions options = {};
};

TableOptions labelled_by(const char* column) {
  TableOptions options;
  options.label = {column};
  return options;
}

const char* good_nodes = "id,label,age\na,x,1\nb,y,2\n";
const char* good_edges = "source,target\na,b\n";

std::string many_rows(const std::string& header, const std::string& good, const std::string& last) {
  std::string out = header + "\n";
  for (int k = 0; k < 120; ++k) out += "n" + std::to_string(k) + "," + good + "\n";
  return out + last + "\n";
}

const std::vector<Fault>& faults() {
  static const std::string nearly_numbers = many_rows("id,label,age", "x,1", "last,y,unknown");
  static const std::string nearly_targets = [] {
    std::string out = "id,label\n";
    for (int k = 0; k < 120; ++k) out += "n" + std::to_string(k) + "," + std::to_string(k) + ".5\n";
    return out + "last,high\n";
  }();
  static const std::string names_as_labels = [] {
    std::string out = "id,label\n";
    for (int k = 0; k < 120; ++k) out += "n" + std::to_string(k) + ",word" + std::to_string(k) + "\n";
    return out;
  }();
  static const std::string mostly_numbers = [] {
    std::string out = "id,label,age\n";
    for (int k = 0; k < 300; ++k)
      out += "n" + std::to_string(k) + ",x," + (k % 5 == 0 ? "w" : "") + std::to_string(k) + "\n";
    return out;
  }();
  static const std::vector<Fault> all = {
      // The file as a whole.
      {"", good_edges, {"the file is empty", "nodes.csv, line 1", "column names"}},
      {"# only a remark\n", good_edges, {"the file is empty", "nodes.csv, line 1"}},
      {"id,label,age\n", good_edges, {"no rows", "nodes.csv, line 1", "give each node a row"}},
      {"PK\x03\x04rest", good_edges, {"spreadsheet", "nodes.csv", "save it as CSV"}},
      {"id,label\n\xe4,x\n", good_edges, {"not UTF-8", "line 2", "save it as UTF-8"}},
      {good_nodes, "", {"the file is empty", "edges.csv, line 1", "source,target"}},
      // The header of the nodes.
      {"1,2,3\n4,5,6\n", good_edges, {"no column names", "nodes.csv, line 1", "column names"}},
      {"person,label\na,x\n", good_edges, {"which node a row is about", "line 1", "call it id"}},
      {"id,label,label\na,x,y\n", good_edges, {"two columns have the name 'label'", "line 1"}},
      {",id,label\n0,a,x\n", good_edges, {"column 1 of 3 has no name", "line 1", "index=False"}},
      {"id,label,class\na,x,y\n",
       good_edges,
       {"both 'label' and 'class'", "nodes.csv, line 1", "setting label"}},
      {"id,x,y\na,1,2\n",
       good_edges,
       {"column y beside x", "nodes.csv, line 1, column 'y'", "setting label"}},
      // Rows of the nodes.
      {"id,label\na,x\na,y\n", good_edges, {"a second row for node 'a'", "line 3", "one row"}},
      {"id,label\n,x\n", good_edges, {"the id is empty", "line 2, column 'id'", "name each node"}},
      {"id,label\na,x,y\n", good_edges, {"3 fields, not 2", "line 2", "quotes"}},
      {"id,label,age\na,x,1,5\n", good_edges, {"4 fields, not 3", "decimal commas"}},
      {"id,label\na\n", good_edges, {"1 field, not 2", "line 2"}},
      {"id,label\n\"a,x\n", good_edges, {"never closed", "line 2", "close it"}},
      {"id,label\na\"b,x\n", good_edges, {"a quote inside field 1", "line 2", "between quotes"}},
      {"id,label\n\"a\"b,x\n", good_edges, {"after the closing quote", "line 2"}},
      {"id,label\na,x\rb,y\n", good_edges, {"carriage return", "line 2"}},
      // Features.
      {"id,label,day\na,x,2021-03-04\nb,y,2021-03-05\n",
       good_edges,
       {"'2021-03-04' is a date", "line 2, column 'day'", "ignore-columns"}},
      {"id,label,day\na,x,3/4/21\nb,y,5/4/21\n", good_edges, {"is a date", "line 2, column 'day'"}},
      {"id,label,at\na,x,12:30\nb,y,12:31\n", good_edges, {"is a date or a time", "column 'at'"}},
      {"id,label,day\na,x,2021-03\nb,y,2021-04\n",
       good_edges,
       {"'2021-03' is a date", "line 2, column 'day'", "days since the first one"}},
      {"id,label,day\na,x,1 Mar 2021\nb,y,2 Mar 2021\n",
       good_edges,
       {"'1 Mar 2021' is a date", "column 'day'"}},
      {"id,label,pay\na,x,50%\nb,y,7%\n",
       good_edges,
       {"'50%' has a sign beside its number", "line 2, column 'pay'", "write numbers alone"}},
      {"id,label,pay\na,x,2\nb,y,$1.50\n", good_edges, {"'$1.50' has a sign", "line 3, column 'pay'"}},
      {"id,label,pay\na,x,\"1,234.5\"\nb,y,2\n", good_edges, {"thousands", "line 2, column 'pay'", "1234.5"}},
      {"id,label,pay\na,x,950\nb,y,\"1,234\"\n", good_edges, {"thousands", "line 3, column 'pay'"}},
      {"id;label;pay\na;x;1.234,5\nb;y;2\n", good_edges, {"thousands", "line 2, column 'pay'"}},
      {"id;label;pay\na;x;1,5\nb;y;1.5\n",
       good_edges,
       {"decimal comma", "line 2, column 'pay'", "use one of the two"}},
      {"id,label,pay\na,x,inf\nb,y,2\n",
       good_edges,
       {"finite", "line 2, column 'pay'", "leave the field empty"}},
      {"id,label,pay\na,x,1e999\nb,y,2\n", good_edges, {"finite", "line 2, column 'pay'"}},
      {nearly_numbers.c_str(),
       good_edges,
       {"'unknown' is not a number", "line 122, column 'age'", "leave the field empty"}},
      {mostly_numbers.c_str(),
       good_edges,
       {"'w0' is not a number", "line 2, column 'age'", "ignore-columns"}},
      // Labels and splits.
      {nearly_targets.c_str(), "n0,n1\n", {"'high' is not a number", "line 122, column 'label'", "task"}},
      {names_as_labels.c_str(), "n0,n1\n", {"looks like a name", "column 'label'", "setting label"}},
      {"id,a,b\na,1,0\nb,1,\n",
       good_edges,
       {"the label is empty", "line 3, column 'b'", "all of them, or none"},
       [] {
         TableOptions options;
         options.label = {"a", "b"};
         return options;
       }()},
      {"id,a,b\na,1,0\nb,1,high\n",
       good_edges,
       {"'high' is not a number", "line 3, column 'b'", "0 and 1 (no and yes, false and true)",
        "name one column"},
       [] {
         TableOptions options;
         options.label = {"a", "b"};
         return options;
       }()},
      {"id,a,b\na,1,0\nb,1,1\n",
       good_edges,
       {"no column 'c' for the labels", "nodes.csv, line 1", "setting label"},
       [] {
         TableOptions options;
         options.label = {"a", "c"};
         return options;
       }()},
      {"id,a\na,x\nb,y\n",
       good_edges,
       {"'x' is not a number", "line 2, column 'a'", "task"},
       [] {
         TableOptions options = labelled_by("a");
         options.task = Task::regression;
         return options;
       }()},
      {"id,a\na,2\nb,0\n",
       good_edges,
       {"'2' among sets of labels", "line 2, column 'a'", "write 0 or 1"},
       [] {
         TableOptions options = labelled_by("a");
         options.task = Task::labels;
         return options;
       }()},
      {"id,label,split\na,x,trian\nb,y,val\n",
       good_edges,
       {"'trian' is no part of a split", "line 2, column 'split'", "write train, val or test"}},
      {"id,label,split\na,x,train\nb,y,test\n",
       good_edges,
       {"no node is in val", "line 1, column 'split'", "ignore-columns"}},
      // Edges.
      {good_nodes, "source\na\n", {"one column", "edges.csv, line 1", "source and target"}},
      {good_nodes,
       "source,target,target\na,b,b\n",
       {"two columns have the name 'target'", "edges.csv, line 1"}},
      {good_nodes,
       "id,one,two\n1,a,b\n",
       {"not clear which columns", "edges.csv, line 1", "source and target"}},
      {good_nodes, "a,b,1,2\n", {"4 columns, and no line with their names", "edges.csv, line 1"}},
      {good_nodes,
       "source,target,time\na,b,17\n",
       {"column 'time' is neither", "edges.csv, line 1", "ignore-columns"}},
      {good_nodes,
       "source,target,amount,when,edge_type\na,b,1,2,x\n",
       {"the columns 'amount', 'when', 'edge_type' are neither", "edges.csv, line 1",
        "ignore-columns (amount,when,edge_type)", "call one weight"}},
      {good_nodes,
       "source,target,created_at\na,b,17\n",
       {"column 'created_at' is neither", "edges.csv, line 1"}},
      {good_nodes, "source,target,rel-type\na,b,17\n", {"column 'rel-type' is neither"}},
      {good_nodes, "source,target,since\na,b,17\n", {"column 'since' is neither"}},
      {good_nodes,
       "source,target,moment\na,b,1600000000\nb,a,1600000060\n",
       {"seconds or milliseconds since 1970, such as 1600000000", "edges.csv, column 'moment'",
        "ignore-columns"}},
      {good_nodes, "a,b,1600000000\n", {"seconds or milliseconds", "edges.csv, column '3'", "first line"}},
      {good_nodes,
       "source,target,weight,type\na,b,1,x\n",
       {"column 'type' is neither", "edges.csv, line 1", "ignore-columns"}},
      {good_nodes,
       "source,target,closeness\na,b,near\n",
       {"'near' is not a weight", "edges.csv, line 2, column 'closeness'", "ignore-columns"}},
      {good_nodes,
       "source,target,weight\na,b,1\nb,a,-2\n",
       {"the weight '-2' is negative", "edges.csv, line 3, column 'weight'", "0 or more"}},
      {good_nodes,
       "source,target,weight\na,b,\n",
       {"the weight is missing", "edges.csv, line 2, column 'weight'", "leave the edge out"}},
      {good_nodes, "source,target,weight\na,b,inf\n", {"not a finite number", "line 2, column 'weight'"}},
      {good_nodes, "source;target;weight\na;b;1.234,5\n", {"thousands", "line 2, column 'weight'"}},
      {good_nodes, "source,target,weight\na,b,2021-01-01\n", {"is not a weight", "line 2, column 'weight'"}},
      {good_nodes, "source,target\na,\n", {"the id is empty", "edges.csv, line 2, column 'target'"}},
      {good_nodes, "source,target\na,b\na,b,1\n", {"3 fields, not 2", "edges.csv, line 3"}},
      {good_nodes, "a,b\na\n", {"1 field, not 2", "edges.csv, line 2"}},
      {good_nodes, "source,target\n1,2\n", {"no end of an edge is a node", "'1'", "'a'", "same way"}},
  };
  return all;
}

TEST_F(Tables, FiftyFaultsAreEachOneLineWithThePlaceAndARemedy) {
  EXPECT_GE(faults().size(), 50U);
  for (const Fault& fault : faults()) {
    write("nodes.csv", fault.nodes);
    write("edges.csv", fault.edges);
    const std::string message = refusal(fault.options);  // one line, what (where); remedy
    for (const std::string& part : fault.says) EXPECT_CONTAINS(message, part);
    EXPECT_CONTAINS(message, path());
  }
}

TEST_F(Tables, FaultsOfTheFolderAreNamed) {
  std::filesystem::remove(path("edges.csv"));
  EXPECT_CONTAINS(refusal(), "no file with the edges (" + path() + "); add one of edges.csv");
  write("edges.csv", "a,b\n");
  write("edges.txt", "a b\n");
  EXPECT_CONTAINS(refusal(), "2 files with the edges: edges.csv, edges.txt");
  std::filesystem::remove(path("edges.txt"));
  write("nodes-more.csv", "id,age\nann,1\n");
  EXPECT_CONTAINS(refusal(), "the column 'age' is in nodes.csv too (" + path("nodes-more.csv"));
  write("nodes.csv", std::string("id,label\0a\n", 11));
  EXPECT_CONTAINS(refusal(), "bytes of zero");
}

TEST_F(Tables, TextBeyondAsciiIsKeptAndShown) {
  write("nodes.csv", "id,label\nZo\xc3\xab,gr\xc3\xbcn\nb,rot\nZo\xc3\xab,rot\n");
  EXPECT_CONTAINS(refusal(), "a second row for node 'Zo\xc3\xab'");
  write("nodes.csv", "id,label\nZo\xc3\xab,gr\xc3\xbcn\nb,rot\n");
  write("edges.csv", "Zo\xc3\xab,b\n");
  EXPECT_EQ(read().node_names[0], "Zo\xc3\xab");
  EXPECT_EQ(read().class_names[0], "gr\xc3\xbcn");
}

TEST_F(Tables, SurviveRandomDamage) {
  survive_random_damage(
      "id,label,age,city,split\nann,cat,31,Oslo,train\nbob,dog,1.5,Rome,val\ncid,,NA,,test\n", 3000,
      [&](const std::string& text) {
        write("nodes.csv", text);
        read();
      });
  SetUp();
  survive_random_damage("source,target,weight\nann,bob,2.5\nbob,\"d\"\"an\",1e-3\n", 3000,
                        [&](const std::string& text) {
                          write("edges.csv", text);
                          read();
                        });
}

}  // namespace
}  // namespace eignn
