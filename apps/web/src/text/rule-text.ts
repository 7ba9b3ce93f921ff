/** A rule in the notation of the config: `Bash(git *)`. */
export const ruleText = ({ tool, pattern }: { tool: string; pattern?: string | undefined }): string =>
  pattern === undefined ? tool : `${tool}(${pattern})`;
