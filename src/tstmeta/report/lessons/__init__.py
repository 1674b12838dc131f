"""What the lesson pages call: small worlds whose truth is known, then the same on real ratings."""
