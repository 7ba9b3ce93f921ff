/** What reads conversations of others. Loaded where it is used: it brings Claude Code's room along. */
export const loadImports = async () => {
  const [{ importedSessionId, importPastSession }, { PrintedPast }] = await Promise.all([
    import("./import-past-session.ts"),
    import("./printed-past.ts"),
  ]);
  return { importedSessionId, importPastSession, PrintedPast };
};
