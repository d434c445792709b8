#!/usr/bin/python3
"""Small good files to start the fuzz targets from:  /usr/bin/python3 seeds.py FOLDER

FOLDER/READER/* gets them. For a reader of folders a seed is its files, in the target's order, with a line ==== between.
"""
import gzip
import io
import json
import pathlib
import struct
import sys

import numpy as np

FEATURES = np.array([[0, 1, 2], [1, 0, 0], [0, 0, 1], [1, 1, 1]], dtype=np.float32)
LABELS = np.array([0, 1, 1, -1])
EDGES = np.array([[0, 1], [1, 2], [2, 2], [3, 0]])
MASKS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(save=np.savez, **arrays):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def folder(*files):
    return b"\n====\n".join(f.encode() if isinstance(f, str) else f for f in files)


def safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def node_link(**node):
    return json.dumps({"directed": False, "graph": {}, "nodes": [{"id": i, **node} for i in range(2)],
                       "links": [{"source": 0, "target": 1}, {"source": 1, "target": 1}]})


def compact(**more):
    train, val, test = MASKS
    return dict(edges=EDGES, node_features=FEATURES, node_labels=LABELS, train_masks=train, val_masks=val,
                test_masks=test, **more)


def csr(name):
    return {f"{name}_data": np.array([1.0, 2.0], np.float32), f"{name}_indices": np.array([1, 0], np.int32),
            f"{name}_indptr": np.array([0, 1, 2], np.int32), f"{name}_shape": np.array([2, 2])}


def sharded(**truths):
    values = dict(weighted="false", symmetric="false", sparse_features="false", label_sets="false", labels_known="false",
                  several_graphs="false")
    values.update(truths)
    return ("format = 1\nnodes = 4\narcs = 2\narcs_in_file = 3\nfeatures = %d\nclasses = 4\nsplits = 1\n" % FEATURES.shape[1]
            + "".join(f"{name} = {value}\n" for name, value in values.items()) + "first_row = [0, 4]\ncontent = \"\"\n")


OFFSETS = np.array([0, 1, 2, 2, 2])
PLAIN = [npy(OFFSETS), npy(np.array([1, 0], np.int32)), npy(np.ascontiguousarray(FEATURES))]

SEEDS = {
    "npy": [npy(EDGES), npy(np.asfortranarray(FEATURES)), npy(MASKS), npy(np.array(3.5, dtype=">f8"))],
    "npz": [npz(a=LABELS, b=MASKS), npz(np.savez_compressed, edges=EDGES)],
    "matrix_market": [b"%%MatrixMarket matrix coordinate pattern symmetric\n% a remark\n3 3 2\n2 1\n3 3\n",
                      b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -1.5e3\n"],
    "edge_list": [b"# two arcs\n0 1\n1,2 # with a comma\r\n", b"source\ttarget\n0\t1\n",
                  b"from,to,weight\n0,1,0.5\n1,2,+1e-3\n"],
    "safetensors": [safetensors({"__metadata__": {"a": "b"}, "t": {"dtype": "F32", "shape": [1, 2],
                                                                   "data_offsets": [0, 8]}}, b"\0" * 8)],
    "compact": [npz(**compact()), npz(np.savez_compressed, **compact(graph_id=np.array([7, 7, 7, 7]))),
                npz(**compact(edge_weight=np.array([0.5, 0, 1e-9, 3]))),
                npz(edges=EDGES, node_features=FEATURES, node_labels=MASKS[[0, 1, 2, 2]],
                    labels_known=np.array([1, 0, 1, 1], dtype=bool))],
    "gnn_benchmark": [npz(**csr("adj"), **csr("attr"), labels=np.array([0, 1])),
                      npz(**csr("adj"), attr_matrix=np.eye(2), labels=np.array([0, 1]))],
    "csv": [b"id,text\n0,plain\n1,\"a \"\"quoted\"\", field\"\n", b"# remark\r\na\tb\r\n1.5\t\r\n"],
    "node_link": [node_link().encode(), node_link(val=True, test=False).encode()],
    "keyed_numbers": [b'{"0": [3, 17], "1": []}', b'{"0": 5, "b\\u00e9": 2.0}'],
    "geom_gcn": [folder("node_id\tfeature\tlabel\n1\t0,1\t-1\n0\t1,0.5\t0\n", "node_id\tnode_id\n0\t1\n1\t1\n"),
                 folder("node_id\tfeature(feature_amount:9)\tlabel\n0\t4,9\t0\n1\t2\t1\n", "a\tb\n1\t0\n")],
    "own_graph": [folder("id,x,y\n1,0.5,1\n0,2,3\n2,1,1\n", "label\n0\n1\n\n", "0,1\n1,2\n",
                         "id,first\n0,train\n1,val\n2,test\n")],
    "cell": [b"-1,5e3", b"2021-03-04", b"1.234,5", b" NA ", b"+0.5"],
    "tables": [folder("id,label,age,city,split\nann,cat,31,Oslo,train\nbob,dog,NA,Rome,val\ncid,cat,\"1,5\",,test\n",
                      "source,target,weight\nann,bob,2.5\nbob,dan,0\n"),
               folder("id;y\n0;0,5\n1;\n", "0 1 2\n1 2 3\n", "node\textra\n1\t7\n9\t8\n")],
    "graphsage": [folder(node_link(val=False, test=False), '{"0": 0, "1": 1}', '{"0": [1, 0], "1": [0, 1]}',
                         npy(np.eye(2)))],
    "musae": [folder("id_1,id_2\n0,1\n", "id,name,page_type\n0,a,tvshow\n1,\"b,c\",company\n",
                     '{"0": [1], "1": [0, 2]}')],
    "ppi": [folder(*[node_link()] * 3, *[npy(np.array([1, 1]))] * 3, *[npy(np.array([[1, 0], [0, 1]]))] * 3,
                   *[npy(np.eye(2))] * 3)],
    "ogb": [folder("3\n", "2\n", gzip.compress(b"0,1\n1,2\n", mtime=0), "0.5,1\n1,2\n3,4\n", "0\nnan\n1\n",
                   "0\n", "1\n", "2\n"),
            folder("2\n", "1\n", "0,1\n", "1\n2\n", "0,1\n1,1\n", "0\n", "1\n", "1\n")],
    "sharded": [folder(sharded(weighted="false", symmetric="true"), *PLAIN, npy(LABELS.astype(np.int32)),
                       npy(np.array([[1], [2], [3], [0]], np.uint8))),
                folder(sharded(weighted="true", symmetric="false"), *PLAIN, npy(LABELS.astype(np.int32)),
                       npy(np.array([[1], [2], [3], [0]], np.uint8)), npy(np.array([0.5, 2.0])), npy(OFFSETS),
                       npy(np.array([1, 0], np.int32)), npy(np.array([2.0, 0.5])))],
    "toml": [b'format = 1\nlr = 5e-4 # rate\ndataset = "a#b\\n\\u00e9"\n', b"[texas]\nlr = [0.5, 1_0, 0x1F]\nhead = 'l2'\n"],
}

if __name__ == "__main__":
    for reader, seeds in SEEDS.items():
        home = pathlib.Path(sys.argv[1]) / reader
        home.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (home / f"seed-{number}").write_bytes(seed)
