"""Run from the folder `clients/python`: PYTHONPATH=src python3 -m unittest discover -s tests -t ."""
