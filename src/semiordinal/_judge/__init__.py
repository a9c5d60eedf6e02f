"""What is said of a model: errors of predictions for rows that were held out."""
