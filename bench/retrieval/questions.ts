export interface Question {
  text: string;
  /** `connection/table` of every table that an answer needs. */
  gold: readonly string[];
}

const of = (connection: string, ...questions: [text: string, ...tables: string[]][]): Question[] =>
  questions.map(([text, ...tables]) => ({ text, gold: tables.map((table) => `${connection}/${table}`) }));

/** Questions of people who do not know the tables. They are not used to choose words or weights of the search. */
export const QUESTIONS: readonly Question[] = [
  ...of(
    "chinook",
    ["Which band has released the most albums?", "Artist", "Album"],
    ["What are the longest songs in the catalogue?", "Track"],
    ["How much revenue did we make per music genre?", "Genre", "Track", "InvoiceLine"],
    ["Who composed most of the tracks on the Classical playlist?", "Playlist", "PlaylistTrack", "Track"],
    ["Which support agent looks after the best customers?", "Employee", "Customer", "Invoice"],
    ["How many tracks are sold as AAC audio files?", "MediaType", "Track"],
    ["Total of invoices billed to Brazil in 2012", "Invoice"],
    ["Which Jazz songs were never bought?", "Genre", "Track", "InvoiceLine"],
    ["Songs by Iron Maiden that are on no playlist", "Artist", "Album", "Track", "PlaylistTrack"],
    ["Who reports to the General Manager?", "Employee"],
    ["Average price of a track per album", "Track", "Album"],
    ["Email addresses of buyers in Canada", "Customer"],
  ),
  ...of(
    "northwind",
    ["Which products are running out of stock?", "Products"],
    ["How many days late were orders shipped by Speedy Express?", "Orders", "Shippers"],
    ["Which supplier from Japan has the most expensive products?", "Suppliers", "Products"],
    ["Turnover per food category after discounts", "Order Details", "Products", "Categories"],
    ["Which salespeople cover the Western region?", "Employees", "EmployeeTerritories", "Territories", "Regions"],
    ["Average freight cost per destination country", "Orders"],
    ["Who are the contact persons at German customers?", "Customers"],
    ["List discontinued items that are still on order", "Products"],
    ["Which employees were hired in 1993?", "Employees"],
    ["How large is the average discount per order?", "Order Details"],
    ["Best selling beverages", "Products", "Categories", "Order Details"],
    ["Which companies have bought nothing for a year?", "Customers", "Orders"],
    ["Demographic segments of our clients", "CustomerDemographics", "CustomerCustomerDemo"],
    ["How many territories does each region have?", "Territories", "Regions"],
  ),
  ...of(
    "rentals",
    ["Which film was rented most often?", "film", "inventory", "rental"],
    ["How much did each customer pay for rentals?", "payment", "customer"],
    ["Movies with a running time of more than two hours", "film"],
    ["In which films does an actor appear?", "actor", "film_actor", "film"],
    ["How many copies of a movie does each shop have?", "inventory", "store", "film"],
    ["Who manages the rental shop?", "store", "staff"],
    ["Films per language", "film", "language"],
    ["Horror films with an R rating", "film", "film_category", "category"],
    ["In which cities do renters live?", "customer", "address", "city"],
    ["Income per shop and month", "payment", "rental", "store"],
  ),
  ...of(
    "clinic",
    ["How many beds does each ward have?", "WARD"],
    ["Which doctors prescribe the most drugs?", "PHYSICIAN", "PRESCRIPTION"],
    ["Average length of stay per ward", "ENCOUNTER", "WARD"],
    ["Patients born before 1950 and their family doctor", "PATIENT", "PHYSICIAN"],
    ["The most frequent diseases with high severity", "DIAGNOSIS", "DIAGCODE"],
    ["What dose of a medicine was given to a patient?", "MEDICATION", "PRESCRIPTION", "ENCOUNTER", "PATIENT"],
    ["Number of admissions per month", "ENCOUNTER"],
    ["Who is the head of each physician?", "PHYSICIAN"],
    ["Prescriptions without refills", "PRESCRIPTION"],
    ["Diagnoses made during hospital stays of a patient", "DIAGNOSIS", "ENCOUNTER"],
  ),
];
