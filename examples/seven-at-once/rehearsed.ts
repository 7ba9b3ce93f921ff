import { reply, text, toolUse, type Script } from "tandem-agent-rehearsal";

/** A model that does what these agents are asked for: it completes the file that the message names, and commits it. */
const script: Script = ({ lastUserText, toolResults: [result] }) => {
  if (result) return text(result.isError ? `It failed: ${result.text}` : "It is written and committed.");
  const river = /rivers\/(\w+)\.md/.exec(lastUserText)?.[1] ?? "nothing";
  const command = [
    `sed -i.bak "s/TODO/A river. Try it on port $TANDEM_PORT./" rivers/${river}.md && rm rivers/${river}.md.bak`,
    `git -c user.name=Agent -c user.email=agent@example.com commit --quiet --all --message "Complete the ${river}"`,
  ].join(" && ");
  return reply([text(`I complete the ${river}.`), toolUse("Bash", { command, description: "Complete and commit" })]);
};

export default script;
