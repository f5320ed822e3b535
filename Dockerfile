# escgnn with RDKit and without CUDA, for files in the folder you are in:
#   docker build -t escgnn --build-arg TORCH_CPU_INDEX=... .   (PyTorch's address of builds without CUDA, from its install page)
#   docker run --rm -v "$PWD":/data escgnn encode molecules.csv -o encoded.parquet
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml setup.py README.md LICENSE ./
COPY escgnn escgnn
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
ARG TORCH_CPU_INDEX
RUN pip install --no-cache-dir torch ${TORCH_CPU_INDEX:+--index-url "$TORCH_CPU_INDEX"}
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[chem,sklearn]"

RUN useradd --create-home someone && mkdir /data && chown someone /data
USER someone
# For any processor of the kind, so that what is compiled here need not be compiled again where it runs.
ENV NUMBA_CPU_NAME=generic
RUN printf 'smiles\nc1ccccc1O\n' > /tmp/warm.csv && \
    escgnn encode /tmp/warm.csv -o /tmp/warm.parquet && \
    escgnn count /tmp/warm.csv -o /tmp/warm.out.csv --all && \
    rm /tmp/warm*

WORKDIR /data
ENTRYPOINT ["escgnn"]
CMD ["--help"]
