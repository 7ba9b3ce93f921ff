/** The upload of a skill. */
export function skillForm(name: string): FormData {
  const form = new FormData();
  const text = `---\nname: ${name}\ndescription: Describes ${name}.\n---\n${name}\n`;
  form.append("files[]", new Blob([text]), `${name}/SKILL.md`);
  return form;
}
