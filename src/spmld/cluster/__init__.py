"""Dask arrays and data frames, whose chunks stay on the workers of the active ``distributed.Client`` if they are large.

Linear and latent estimators fit them exactly; `SelfPacedEnsemble` searches its settings on a sample. Dask needs
``pip install "spmld[dask]"``.
"""
