export function InboxPage() {
  return <div className="p-4" />;
}
