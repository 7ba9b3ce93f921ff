import { Link } from "@tanstack/react-router";

export function NotFound() {
  return (
    <div className="grid h-full place-items-center p-6 text-center">
      <div>
        <h1 className="text-lg font-semibold">There is nothing here</h1>
        <p className="mt-1 text-ink-soft">The address may be old, or what it led to may have been deleted.</p>
        <Link to="/" className="mt-4 inline-block text-accent underline underline-offset-2">
          All sessions
        </Link>
      </div>
    </div>
  );
}
