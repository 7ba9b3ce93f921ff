import { Link } from "@tanstack/react-router";

const TEXTS = {
  page: ["Page not found", "The address may be outdated or mistyped."],
  session: [
    "Session not found",
    "It was deleted, or it belongs to another server or user. Archived sessions stay readable.",
  ],
} as const;

export function NotFound({ kind = "page" }: { kind?: keyof typeof TEXTS }) {
  const [title, text] = TEXTS[kind];
  const link = "text-accent underline underline-offset-2";
  return (
    <div className="grid h-full place-items-center p-6 text-center">
      <div className="max-w-md">
        <h1 className="text-lg font-semibold">{title}</h1>
        <p className="mt-1 text-ink-soft">{text}</p>
        <p className="mt-2 font-mono text-xs break-all text-ink-faint">{location.pathname}</p>
        <p className="mt-4 flex flex-wrap justify-center gap-x-4 gap-y-2">
          <Link to="/" className={link}>
            All sessions
          </Link>
          <Link to="/" search={{ archived: true }} className={link}>
            Archived sessions
          </Link>
          <Link to="/inbox" className={link}>
            Inbox
          </Link>
        </p>
      </div>
    </div>
  );
}
