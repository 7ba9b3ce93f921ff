import { createServer } from "node:http";
import { listenOnLoopback, always, text } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

describe.each(["without a server", "with a server"])("tandem webhooks, %s", (place) => {
  test("add, list, show, test, deliveries, resend, update, rotate, remove", async () => {
    await using machine = await sessionMachine([always(text("Hello."))]);
    await using _ = place === "with a server" ? await machine.up() : undefined;
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(String(request.headers["webhook-id"]));
      request.resume();
      response.writeHead(204).end();
    });
    await using receiver = await listenOnLoopback(server);
    const url = `${receiver.url}/hooks`;
    const tandem = (...args: string[]) => machine.run(["webhooks", ...args]);

    expect((await machine.run(["webhooks"])).stdout).toContain("No webhook endpoints");
    const added = await tandem("add", url, "--name", "ops", "--events", "agent.*,session.created");
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S{44}\n$/) as string });
    expect(added.stderr).toContain("gets 5 types of events");
    expect((await tandem("add", url, "--events", "session.createt")).stderr).toContain("session.created");
    const listed = await tandem("list");
    expect(listed.stdout).toContain("ops");
    expect(listed.stdout).toContain("nothing sent yet");
    const shown = await tandem("show", "ops");
    expect(shown.stdout).toContain("agent.archived");
    expect(shown.stdout + listed.stdout).not.toContain("whsec_");

    expect(await tandem("test", "ops")).toMatchObject({ code: 0, stdout: expect.stringContaining("answered 204") });
    const log = JSON.parse((await tandem("deliveries", "ops", "--json")).stdout) as { deliveries: { id: string }[] };
    expect(log.deliveries).toMatchObject([{ type: "tandem.test", state: "delivered", attempts: 1 }]);
    const { id } = log.deliveries[0]!;
    expect((await tandem("resend", "ops", id)).stdout).toContain("is delivered again");
    if (place === "with a server") await expect.poll(() => received).toEqual([id, id]);

    const rotated = await tandem("rotate", "ops");
    expect(rotated.stdout).toMatch(/^whsec_/);
    expect(rotated.stdout).not.toBe(added.stdout);
    const both = await tandem("update", "ops", "--enable", "--disable");
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("exclude each other")]);
    expect((await tandem("update", "ops", "--disable", "--events", "all")).stdout).toContain("disabled");
    expect((await tandem("resend", "ops", id)).stderr).toContain("The endpoint is disabled");
    expect((await tandem("remove", "ops")).stdout).toMatch(/^Removed whep_/);
    expect((await tandem("show", "ops")).stderr).toContain("There is no webhook endpoint ops");
  });
});
