export function ContextPage() {
  return <div className="p-4" />;
}
