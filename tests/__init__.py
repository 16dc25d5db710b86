"""Tests of cstree; the folders mirror the package."""
