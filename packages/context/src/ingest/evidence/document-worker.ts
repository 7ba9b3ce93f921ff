// Entry point of the thread that converts documents, one at a time.
import { parentPort } from "node:worker_threads";
import { TandemError } from "@tandem/protocol";
import { convertDocument, type Conversion } from "./convert-document.ts";

const port = parentPort!;

port.on("message", (conversion: Conversion) => {
  port.postMessage("began");
  convertDocument(conversion).then(
    (converted) => port.postMessage({ converted }),
    (error: unknown) => port.postMessage({ refusal: asRefusal(error, conversion.path) }),
  );
});

function asRefusal(error: unknown, path: string): { code: string; message: string; fix: string } {
  if (error instanceof TandemError) return { code: error.code, message: error.message, fix: error.fix };
  const why = error instanceof RangeError ? "it is nested too deeply" : String(error).split("\n", 1)[0]!;
  return {
    code: "broken",
    message: `${path} cannot be read: ${why}.`,
    fix: "Fix it, or leave it out with `exclude`.",
  };
}
