/** Imports the readers of foreign conversations lazily, because they load the claude-code package. */
export const loadImports = async () => {
  const [{ importedSessionId, importPastSession }, { PrintedPast }] = await Promise.all([
    import("./import-past-session.ts"),
    import("./printed-past.ts"),
  ]);
  return { importedSessionId, importPastSession, PrintedPast };
};
