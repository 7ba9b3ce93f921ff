import type { Invocation } from "../../invocation.ts";
import { completionScript } from "../../completion-script.ts";
import { write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";
import { SHELLS, type Shell } from "../../option-choices.ts";

export function register(command: Command, { examples, runner }: Registration): void {
  examples(
    command
      .addArgument(command.createArgument("<shell>").choices(SHELLS))
      .action(runner((invocation, shell: Shell) => completion(invocation, shell, command.parent!))),
    "tandem completion bash > ~/.local/share/bash-completion/completions/tandem",
    "tandem completion zsh > ~/.tandem.zsh && echo 'source ~/.tandem.zsh' >> ~/.zshrc",
    "tandem completion fish > ~/.config/fish/completions/tandem.fish",
  );
}

export async function completion({ stdout }: Invocation, shell: Shell, program: Command): Promise<void> {
  await write(stdout, completionScript(shell, program));
}
