"""Requests of every kind with the answers that rocpr gave when they were recorded: what a rebuilding must not change.

record.py records them, answers.py compares, and test_corpus.py beside this folder does so.
"""
