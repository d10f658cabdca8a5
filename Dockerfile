# docker build -t lookback .
# docker build -t lookback --build-arg EXTRA_INDEX=ADDRESS .     for a CPU-only torch (far smaller) or another CUDA build
# docker run --read-only --tmpfs /tmp -v lookback:/data -p 127.0.0.1:8050:8050 lookback
#
# Under another name than localhost: -e LOOKBACK_HOSTS=name.in.my.network
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
ARG EXTRA_INDEX=""
WORKDIR /lookback
RUN python -m venv --without-pip /venv
# Packages before code: a change of the code does not install torch again.
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > needed.txt \
    && pip --python /venv/bin/python install --no-cache-dir ${EXTRA_INDEX:+--extra-index-url "$EXTRA_INDEX"} \
        -c constraints.txt -r needed.txt \
    && rm needed.txt
COPY . .
RUN pip --python /venv/bin/python install --no-cache-dir --no-deps -e . && python -m compileall -q app models

FROM python:${PYTHON}
RUN useradd --uid 10001 --user-group --home-dir /tmp --no-create-home lookback && install -d -o lookback -g lookback /data
COPY --from=build /venv /venv
COPY --from=build /lookback /lookback
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 PORT=8050 LOOKBACK_DATA=/data
WORKDIR /lookback
USER 10001:10001
VOLUME /data
EXPOSE 8050
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:${PORT:-8050}/readyz', timeout=4)"
CMD ["lookback", "serve"]
