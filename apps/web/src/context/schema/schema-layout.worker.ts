import { layoutSchema } from "./schema-layout.ts";

// Off the main thread: a thousand tables take longer than a frame.
addEventListener("message", ({ data }: MessageEvent<Parameters<typeof layoutSchema>>) => {
  postMessage(layoutSchema(...data));
});
