using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);

const worker :Workerd.Worker = (
  modules = [
    (name = "out.js", esModule = embed "out.js"),
    (name = "pg_wasm.wasm", wasm = embed "pg_wasm.wasm"),
  ],
  compatibilityDate = "2026-01-01",
);
