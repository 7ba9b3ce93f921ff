import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, PATIENCE_MS, setPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage;
/** Who is told of what happens. */
let hook: Server;
let told: string[];

describe.skipIf(browserPath === undefined)("somebody who looks after the server", { timeout: PATIENCE_MS }, () => {
  beforeAll(async () => {
    told = [];
    hook = createServer((request, response) => {
      request.on("data", (chunk: Buffer) => told.push(chunk.toString()));
      request.on("end", () => response.writeHead(204).end());
    }).listen(0, "127.0.0.1");
    await once(hook, "listening");
    const place = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
    stage = await setPageStage({
      settings: `notify: { webhooks: [{ url: "${place}/hooks?key=secret", on: [failed] }], desktop: true }\n`,
    });
  }, PATIENCE_MS);
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    hook.close();
  });

  test("sees who is told of what, and tries it", async () => {
    const page = await stage.open();
    await page.goto(`${stage.url}/settings/notifications`);
    const webhook = page.getByRole("listitem").filter({ hasText: "/hooks" });
    await webhook.getByText("Told of failures · not signed").waitFor();
    await webhook.getByText("nothing sent yet").waitFor();
    expect(await page.getByText("secret").count()).toBe(0);
    await page.getByRole("button", { name: "Send a test" }).click();
    await webhook.getByText("delivered", { exact: true }).waitFor();
    expect(JSON.parse(told.join(""))).toMatchObject({ type: "test" });
    // Nobody knows here whether this machine has a desktop, but the page does.
    await page
      .getByRole("listitem")
      .filter({ hasText: "Desktop of the server’s machine" })
      .getByText(/delivered/)
      .waitFor();
    expect(stage.complaints()).toEqual([]);
  });
});
