import { code, date, int, listed, money, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const scaleModels: Schema = {
  name: "scale-models",
  about: "numbers and codes as keys, salesRepEmployeeNumber, a text key that is a name",
  tables: {
    offices: {
      rows: 7,
      columns: {
        officeCode: serial(1, 1, "TEXT"),
        city: words(1),
        phone: words(1),
        country: pick("USA", "France", "Japan"),
      },
    },
    employees: {
      rows: 23,
      columns: {
        employeeNumber: serial(1002, 29),
        lastName: words(1),
        firstName: words(1),
        extension: code("x####"),
        officeCode: to("offices.officeCode", { type: "TEXT" }),
        reportsTo: to("employees.employeeNumber", { nulls: 0.05 }),
        jobTitle: pick("Sales Rep", "VP", "President"),
      },
    },
    customers: {
      rows: 122,
      columns: {
        customerNumber: serial(103, 3),
        customerName: title(),
        contactLastName: words(1),
        salesRepEmployeeNumber: to("employees.employeeNumber", { nulls: 0.2, only: [8, 23] }),
        creditLimit: money(),
      },
    },
    productlines: {
      rows: 7,
      columns: {
        productLine: listed(
          "Classic Cars",
          "Motorcycles",
          "Planes",
          "Ships",
          "Trains",
          "Trucks and Buses",
          "Vintage Cars",
        ),
        textDescription: words(9),
      },
    },
    products: {
      rows: 110,
      columns: {
        productCode: code("S##_####"),
        productName: title(),
        productLine: to("productlines.productLine", { type: "TEXT" }),
        productScale: pick("1:10", "1:12", "1:18"),
        quantityInStock: int(0, 9999),
        buyPrice: money(),
      },
    },
    orders: {
      rows: 326,
      columns: {
        orderNumber: serial(10_100),
        orderDate: date(),
        status: pick("Shipped", "Cancelled", "On Hold"),
        customerNumber: to("customers.customerNumber"),
      },
    },
    orderdetails: {
      rows: 1200,
      columns: {
        orderNumber: to("orders.orderNumber"),
        productCode: to("products.productCode", { type: "TEXT" }),
        quantityOrdered: int(20, 60),
        priceEach: money(),
        orderLineNumber: int(1, 18),
      },
      key: ["orderNumber", "productCode"],
    },
    payments: {
      rows: 273,
      columns: {
        customerNumber: to("customers.customerNumber"),
        checkNumber: code("AA######"),
        paymentDate: date(),
        amount: money(),
      },
      key: ["customerNumber", "checkNumber"],
    },
  },
};
