import { type Command, Option } from "commander";
import { ROLE_CHOICES } from "../../option-choices.ts";
import { STDIN_RULE } from "../../input/read-prompt.ts";
import type { Registration } from "../registration.ts";

/** Adds the options of every single call. */
export const callOptions = (command: Command, json: Registration["json"]): Command =>
  command
    .argument("[prompt...]", STDIN_RULE)
    .option("-s, --system <text>", "system prompt")
    .addOption(
      new Option("-r, --role <role>", "role of the call, which selects its model")
        .choices(ROLE_CHOICES)
        .default("default"),
    )
    .option("-m, --model <name>", "model (default: that of the role)")
    .option("--patience <duration>", "how long to wait for a quota to reset, such as 30s or 10m")
    .addOption(json());
