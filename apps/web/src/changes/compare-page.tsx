export function ComparePage() {
  return <div className="p-4" />;
}
