import { expect, test } from "vitest";
import { type Candidates, type Sent, sentCredentials } from "./precedence.ts";

const all: Candidates = {
  apiKey: "key",
  authToken: "token",
  oauthToken: "oauth",
  helper: "helper",
  login: "login",
  loginKey: "login key",
};
const only = (...names: (keyof Candidates)[]): Candidates => Object.fromEntries(names.map((name) => [name, all[name]]));

test.each<[string, Candidates, Sent]>([
  ["nothing", {}, {}],
  [
    "a subscription's token before the login, the login before its key",
    only("oauthToken", "login", "loginKey"),
    { authorization: "oauth" },
  ],
  ["the login before the key of a Console account", only("login", "loginKey"), { authorization: "login" }],
  ["a key keeps the login out", only("apiKey", "login"), { "x-api-key": "key" }],
  [
    "a helper is sent twice, and keeps the login out",
    only("helper", "oauthToken", "login"),
    { "x-api-key": "helper", authorization: "helper" },
  ],
  ["a key and a token are both sent", all, { "x-api-key": "key", authorization: "token" }],
  [
    "a token takes the Console account's key along",
    only("authToken", "login", "loginKey"),
    { "x-api-key": "login key", authorization: "token" },
  ],
  [
    "custom headers go last, and so over the others",
    { ...all, headers: { id: "headers", carried: ["authorization"] } },
    { "x-api-key": "key", authorization: "headers" },
  ],
  ["a cloud uses none of them", { ...all, cloud: "CLAUDE_CODE_USE_BEDROCK" }, {}],
])("%s", (_, candidates, sent) => {
  expect(sentCredentials(candidates)).toEqual(sent);
});
